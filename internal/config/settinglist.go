package config

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Kinds of origins.
const (
	sourceDefault     = "default"
	sourceFile        = "file"        // the person's file
	sourceOtherFile   = "other file"  // axterminator's file
	sourceEnvironment = "environment" // a variable
	sourceFlag        = "flag"
	sourceRoot        = "root"
)

func (r *Editor) list(_ context.Context, call *aai.Call) (*aai.Result, error) {
	only, _ := call.Args["key"].(string)
	if only != "" {
		if _, err := r.find(only); err != nil {
			return nil, err
		}
	}
	now, err := r.cfg.ReadConfig(nil)
	out := answer.Settings{Settings: []answer.Setting{}, File: r.cfg.Running.File()}
	if err != nil {
		out.Fault, now = aai.AsError(err).Message, r.cfg.Running
	}
	out.Notes = now.Notes
	text, _, there, err := r.read(out.File)
	if err == nil {
		out.Version = fileVersion(text, there)
	}
	for _, d := range now.Describe() {
		if only == "" || d.Key == only {
			out.Settings = append(out.Settings, r.settingRow(now, d, text))
		}
	}
	result := &aai.Result{Data: out, Warning: out.Fault}
	return result, nil
}

// settingRow returns the row of one setting. The text is the contents of the person's file.
func (r *Editor) settingRow(now *Config, d Description, text []byte) answer.Setting {
	out := answer.Setting{
		Key: d.Key, Value: jsonValue(now.Value(d.Key)), From: now.Origin(d.Key), About: d.Summary, Kind: d.Kind, Choices: d.Choices,
		Default: jsonValue(d.Default), Env: d.Env, Widens: d.Widens,
	}
	out.Source = r.sourceKind(out.From)
	format := formatOf(r.cfg.Running.File())
	if said, err := Parse(r.cfg.Running.File(), orEmpty(text, format)); err == nil {
		out.InFile = said[d.Key]
	}
	for _, path := range FilePaths(d.Key) {
		if out.Line = splice.Line(text, format, path); out.Line > 0 {
			break
		}
	}
	for _, w := range now.Unconfirmed {
		out.Waits = out.Waits || w.Key == d.Key && w.From == r.cfg.Running.File()
	}
	if running := jsonValue(r.cfg.Running.Value(d.Key)); !r.cfg.ExitsAfterCall && !reflect.DeepEqual(running, out.Value) {
		out.Running = running
	}
	return out
}

// sourceKind returns the kind of an origin.
func (r *Editor) sourceKind(from string) string {
	switch {
	case from == Default:
		return sourceDefault
	case from == r.cfg.Running.File():
		return sourceFile
	case from == policy.RootPolicyPath:
		return sourceRoot
	case strings.HasPrefix(from, "-"):
		return sourceFlag
	case filepath.IsAbs(from):
		return sourceOtherFile
	}
	return sourceEnvironment
}

// jsonValue returns a value in the types of decoded JSON.
func jsonValue(value any) any {
	b, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return nil
	}
	return plain
}

// formatValue formats a value for use in a sentence.
func formatValue(value any) string { return splice.FormatValue(value) }
