package settings

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"

	"aai"
	"aai/internal/config"
	"aai/internal/install/splice"
	"aai/internal/policy"
)

// Who says what a setting is.
const (
	fromDefault     = "default"
	fromFile        = "file"        // the person's
	fromOther       = "other file"  // the desktop tools' own
	fromEnvironment = "environment" // a variable
	fromFlag        = "flag"
	fromRoot        = "root"
)

// A row is one setting, for people and programs.
type row struct {
	Key     string   `json:"key"`
	Value   any      `json:"value"`
	From    string   `json:"from"` // a file, a variable, a flag, or "default"
	Source  string   `json:"source"`
	Line    int      `json:"line,omitempty"` // in the file
	About   string   `json:"about"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices,omitempty"`
	Default any      `json:"default"`
	Env     []string `json:"env,omitempty"`
	Widens  string   `json:"widens,omitempty"`
	// InFile is what the person's file says, also where something else holds; Waits says
	// that it holds only once it is confirmed.
	InFile any  `json:"in_file,omitempty"`
	Waits  bool `json:"waits,omitempty"`
	// Running is what this process goes by, where that is something else.
	Running any `json:"running,omitempty"`
}

// listed is what the tool answers.
type listed struct {
	Settings []row  `json:"settings"`
	File     string `json:"file"`
	Version  string `json:"version"` // of the file, for settings_set
	// Problem says why the configuration cannot be read as it is now: then what this process
	// goes by is listed.
	Problem string   `json:"problem,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

const returns = `{"type": "object", "properties": {"settings": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
	"key": {"type": "string", "title": "setting"}, "value": {"title": "value"}, "from": {"type": "string", "title": "from"},
	"source": {"type": "string"}, "line": {"type": "integer", "title": "line"}, "about": {"type": "string", "title": "what it is for"},
	"kind": {"type": "string"}, "choices": {"type": "array", "items": {"type": "string"}}, "default": {}, "env": {"type": "array", "items": {"type": "string"}},
	"widens": {"type": "string"}, "in_file": {}, "waits": {"type": "boolean"}, "running": {}}}},
	"file": {"type": "string"}, "version": {"type": "string"}, "problem": {"type": "string"}, "notes": {"type": "array", "items": {"type": "string"}}}}`

func (r *Room) list(_ context.Context, call *aai.Call) (*aai.Result, error) {
	only, _ := call.Args["key"].(string)
	if only != "" {
		if _, err := r.find(only); err != nil {
			return nil, err
		}
	}
	now, err := r.cfg.Read(nil)
	out := listed{Settings: []row{}, File: r.cfg.Running.File()}
	if err != nil {
		out.Problem, now = aai.AsError(err).Message, r.cfg.Running
	}
	out.Notes = now.Notes
	text, _, there, err := r.read(out.File)
	if err == nil {
		out.Version = version(text, there)
	}
	for _, d := range now.Describe() {
		if only == "" || d.Key == only {
			out.Settings = append(out.Settings, r.row(now, d, text))
		}
	}
	result := &aai.Result{Data: out, Warning: out.Problem}
	return result, nil
}

// row tells of one setting. The text is what is in the person's file.
func (r *Room) row(now *config.Config, d config.Description, text []byte) row {
	out := row{
		Key: d.Key, Value: asJSON(now.Value(d.Key)), From: now.Origin(d.Key), About: d.About, Kind: d.Kind, Choices: d.Choices,
		Default: asJSON(d.Default), Env: d.Env, Widens: d.Widens,
	}
	out.Source = r.sourceOf(out.From)
	format := formatOf(r.cfg.Running.File())
	if said, err := config.Parse(r.cfg.Running.File(), orEmpty(text, format)); err == nil {
		out.InFile = said[d.Key]
	}
	for _, path := range config.Paths(d.Key) {
		if out.Line = splice.Line(text, format, path); out.Line > 0 {
			break
		}
	}
	for _, w := range now.Unconfirmed {
		out.Waits = out.Waits || w.Key == d.Key && w.From == r.cfg.Running.File()
	}
	if running := asJSON(r.cfg.Running.Value(d.Key)); !r.cfg.Brief && !reflect.DeepEqual(running, out.Value) {
		out.Running = running
	}
	return out
}

// sourceOf is what kind of thing says it.
func (r *Room) sourceOf(from string) string {
	switch {
	case from == config.Default:
		return fromDefault
	case from == r.cfg.Running.File():
		return fromFile
	case from == policy.PolicyFile:
		return fromRoot
	case strings.HasPrefix(from, "-"):
		return fromFlag
	case filepath.IsAbs(from):
		return fromOther
	}
	return fromEnvironment
}

// asJSON is a value as a reader of JSON would have it.
func asJSON(value any) any {
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

// written is a value in a sentence.
func written(value any) string { return splice.Quoted(value) }
