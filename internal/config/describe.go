package config

import (
	"slices"
	"strings"
)

// Kinds of values of settings, in words for people.
const (
	KindBool    = "true or false"
	KindInteger = "whole number"
	KindNumber  = "number"
	KindText    = "text"
	KindPath    = "path"
	KindList    = "list"
	KindObject  = "object"
	KindEnum    = "one of" // one of Choices
	KindMixed   = "mixed"  // several kinds; see Summary
)

// A Description documents a setting.
type Description struct {
	Key     string
	Kind    string   // of its value
	Choices []string // of KindEnum
	Summary string   // its purpose: one sentence without its full stop
	Default any      // a Go value that encodes to the setting's JSON
	Env     []string // variables that set it; the first that is set counts
	Widens  string   // values or changes that a person must confirm; empty: none
}

// Describe documents all settings, in the order of settingSpecs. Paths in defaults are the
// person's paths.
func (c *Config) Describe() []Description {
	var all []Description
	for _, r := range settingSpecs() {
		all = append(all, Description{
			Key: r.key, Kind: r.kind, Choices: r.choices, Summary: r.summary,
			Default: r.get(c.defaults), Env: slices.Clone(r.env), Widens: r.widens.describe(),
		})
	}
	return all
}

// describe returns the values that widen, in words.
func (r wideningRule) describe() string {
	switch r {
	case widensUnlessDefault:
		return "any value but the standard one"
	case widensIfRelaxed:
		return "any value, in a variable or flag, that takes back what a file said"
	case widensIfLess:
		return "less than the standard value"
	case widensIfMore:
		return "more than the standard value"
	case widensInUserFile:
		return "holds by a variable, a flag or root's file, and never in the person's file"
	case widensIfChanged:
		return "any change that is made by the gateway and not in the file"
	case widensNever:
	}
	return ""
}

// FilePaths returns the paths of names under which a file may set key. The first is the one to
// write.
func FilePaths(key string) [][]string {
	names := []string{key}
	for other, is := range settingAliases() {
		if is == key {
			names = append(names, other)
		}
	}
	slices.Sort(names[1:])
	var all [][]string
	for _, name := range names {
		if group, rest, grouped := strings.Cut(name, "."); grouped {
			all = append(all, []string{group, rest})
		}
		all = append(all, []string{name})
	}
	return all
}
