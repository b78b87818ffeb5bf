package web

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// settingsPage lists what is configured, settingPage shows one and changes it.
func settingsPage() page {
	return page{name: "settings", path: "/settings", nav: true, live: []string{EventSettings}, show: showSettings}
}

func settingPage() page {
	return page{
		name: "setting", path: "/settings/{key}", show: showSetting,
		acts: map[string]act{
			"set":   func(v *pageRequest) (any, error) { return changeSetting(v, v.form.Get("value")) },
			"unset": func(v *pageRequest) (any, error) { return changeSetting(v, nil) },
		},
	}
}

// A setting is one as the tool "settings" tells it.
type setting struct {
	Key     string   `json:"key"`
	Value   any      `json:"value"`
	From    string   `json:"from"`
	Source  string   `json:"source"`
	Line    int      `json:"line"`
	About   string   `json:"about"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices"`
	Default any      `json:"default"`
	Env     []string `json:"env"`
	Widens  string   `json:"widens"`
	InFile  any      `json:"in_file"`
	Waits   bool     `json:"waits"`
	Running any      `json:"running"`
}

// settingsAnswer is what the tool answers.
type settingsAnswer struct {
	Settings []setting `json:"settings"`
	File     string    `json:"file"`
	Version  string    `json:"version"`
	Problem  string    `json:"problem"`
	Notes    []string  `json:"notes"`
}

// settingGroup are settings that belong together.
type settingGroup struct {
	Name     string // of its words
	Settings []setting
}

// settingsPageData is what the page of settings shows.
type settingsPageData struct {
	settingsAnswer
	Search  string
	Changed bool // only what is not as it is by itself
	Groups  []settingGroup
	Found   int
}

// settingGroups are the groups in their order, each with what its settings begin with.
func settingGroups() []struct {
	name     string
	prefixes []string
} {
	return []struct {
		name     string
		prefixes []string
	}{
		{"general", nil},
		{"trust", []string{"consent.", "security.", "server.", "dbus.", "keychain."}},
		{"limits", []string{"rate_limits."}},
		{"journal", []string{"journal."}},
		{"network", []string{"net.", "web.", "login."}},
		{"http", []string{"http."}},
		{"windows", []string{"desktop.", "cache.", "vlm."}},
	}
}

func showSettings(v *pageRequest) (any, error) {
	shown := settingsPageData{Search: strings.TrimSpace(v.query.Get("q")), Changed: v.query.Get("changed") != ""}
	if err := v.read("settings", nil, &shown.settingsAnswer); err != nil {
		return nil, err
	}
	taken := make(map[string]bool)
	for _, g := range slices.Backward(settingGroups()) {
		group := settingGroup{Name: g.name}
		for _, s := range shown.Settings {
			s.About = v.aboutSetting(s)
			if taken[s.Key] || g.prefixes != nil && !hasAnyPrefix(s.Key, g.prefixes) {
				continue
			}
			taken[s.Key] = true
			if shown.Changed && s.Source == "default" && s.InFile == nil || !s.matches(shown.Search) {
				continue
			}
			group.Settings = append(group.Settings, s)
		}
		if shown.Found += len(group.Settings); len(group.Settings) > 0 {
			shown.Groups = append(shown.Groups, group)
		}
	}
	slices.Reverse(shown.Groups)
	return shown, nil
}

func hasAnyPrefix(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// aboutSetting says in the visitor's language what a setting is for.
func (v *pageRequest) aboutSetting(s setting) string {
	key := "about." + s.Key
	if text := v.text("settings", key); text != key {
		return text
	}
	return s.About
}

// matches reports whether all words of a search are in the setting.
func (s setting) matches(search string) bool {
	all := strings.ToLower(strings.Join([]string{s.Key, s.About, s.Shown(), s.From, strings.Join(s.Env, " ")}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// shownValue is a value as a file has it; a text is without its quotation marks.
func shownValue(value any) string {
	if text, ok := value.(string); ok {
		return sanitize.EscapeInvisible(text)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return sanitize.EscapeInvisible(string(raw))
}

// Shown is the value in effect.
func (s setting) Shown() string { return shownValue(s.Value) }

// maxShort is how much of a value a list shows, in bytes.
const maxShort = 120

// Short is the value in effect, as a list has room for it.
func (s setting) Short() string { return aai.CleanLabel(s.Shown(), maxShort) }

// Standard is the value that it has by itself.
func (s setting) Standard() string { return shownValue(s.Default) }

// Says is what the file says, "" for nothing.
func (s setting) Says() string {
	if s.InFile == nil {
		return ""
	}
	return shownValue(s.InFile)
}

// Runs is what the gateway of this page goes by, where that is something else, or "".
func (s setting) Runs() string {
	if s.Running == nil {
		return ""
	}
	return shownValue(s.Running)
}

// Form is how a value of the setting is given: "choice", "list", "number" or "text".
func (s setting) Form() string {
	switch s.Kind {
	case "true or false", "one of":
		return "choice"
	case "list", "mixed", "object":
		return "list"
	case "whole number", "number":
		return "number"
	}
	return "text"
}

// Options are the values that it can have, if they are few.
func (s setting) Options() []string {
	if s.Kind == "true or false" {
		return []string{"true", "false"}
	}
	return s.Choices
}

// Typed is the value as a form has it: what the file says, else what holds. A list of texts
// is a line for each.
func (s setting) Typed() string {
	value := s.InFile
	if value == nil {
		value = s.Value
	}
	switch list, isList := value.([]any); {
	case isList && !slices.ContainsFunc(list, func(item any) bool { _, isText := item.(string); return !isText }):
		lines := make([]string, len(list))
		for i, item := range list {
			lines[i] = item.(string)
		}
		return strings.Join(lines, "\n")
	case isList, s.Kind == "object":
		if raw, err := json.MarshalIndent(value, "", "  "); err == nil {
			return string(raw)
		}
	}
	return shownValue(value)
}

// settingPageData is what the page of one setting shows.
type settingPageData struct {
	setting
	File, Version string
}

// Subject is the setting's name.
func (s settingPageData) Subject() string { return s.Key }

// settingChange is what came of a change that was refused: the fault, and what was typed.
type settingChange struct {
	Fault *aai.Error
	Typed string
}

func showSetting(v *pageRequest) (any, error) {
	var answer settingsAnswer
	if err := v.read("settings", map[string]any{"key": v.pathValue("key")}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Settings) != 1 {
		return nil, aai.Errorf(aai.Internal, "the answer of settings has %d settings; expected one", len(answer.Settings))
	}
	s := answer.Settings[0]
	s.About = v.aboutSetting(s)
	return settingPageData{setting: s, File: answer.File, Version: answer.Version}, nil
}

// changeSetting changes one; nil takes it out of the file. What widens the gateway asks about.
func changeSetting(v *pageRequest, value any) (any, error) {
	args := map[string]any{"key": v.pathValue("key"), "value": value}
	if seen := v.form.Get("seen"); seen != "" {
		args["seen"] = seen
	}
	text, _ := value.(string)
	text = strings.ReplaceAll(text, "\r\n", "\n") // as forms send lines
	if value != nil {
		args["value"] = text
	}
	result, err := v.call("settings_set", args)
	if fault, ok := errors.AsType[*aai.Error](err); ok {
		return settingChange{Fault: fault, Typed: text}, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result.Data)
	var now setting
	if err == nil {
		err = json.Unmarshal(raw, &now)
	}
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "the answer of settings_set cannot be read: %w", err)
	}
	said := v.text("setting", "is", now.Key, now.Shown())
	if value != nil && now.Source != "file" {
		said += " " + v.text("setting", "overruled", shownValue(now.From))
	}
	v.setNotice(said + " " + v.text("setting", "later"))
	return nil, nil
}
