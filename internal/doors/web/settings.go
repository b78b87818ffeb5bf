package web

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// settingsPage lists the settings; settingPage shows one and changes it.
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

// A setting is a setting in the answer of the tool "settings".
type setting struct{ answer.Setting }

// settingGroup holds settings that belong together.
type settingGroup struct {
	Name     string // key of the group's texts
	Settings []setting
}

// settingsPageData is the data of the page of settings.
type settingsPageData struct {
	answer.Settings
	Search  string
	Changed bool // only settings that differ from their defaults
	Groups  []settingGroup
	Found   int
}

// settingGroups returns the groups in order, each with the prefixes of its settings.
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
	if err := v.read("settings", nil, &shown.Settings); err != nil {
		return nil, err
	}
	taken := make(map[string]bool)
	for _, g := range slices.Backward(settingGroups()) {
		group := settingGroup{Name: g.name}
		for _, row := range shown.Settings.Settings {
			s := setting{row}
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

// aboutSetting describes a setting in the language of the request.
func (v *pageRequest) aboutSetting(s setting) string {
	key := "about." + s.Key
	if text := v.text("settings", key); text != key {
		return text
	}
	return s.About
}

// matches reports whether the setting contains all words of a search.
func (s setting) matches(search string) bool {
	all := strings.ToLower(strings.Join([]string{s.Key, s.About, s.ValueText(), s.From, strings.Join(s.Env, " ")}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// shownValue formats a value as in a file; a text has no quotation marks.
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

// ValueText returns the value in effect as text for display, with invisible characters escaped.
func (s setting) ValueText() string { return shownValue(s.Value) }

// maxShort limits the shown part of a value in a list, in bytes.
const maxShort = 120

// Short returns the setting's value in effect, cut to maxShort for a list.
func (s setting) Short() string { return aai.CleanLabel(s.ValueText(), maxShort) }

// Standard returns the setting's default as text for display.
func (s setting) Standard() string { return shownValue(s.Default) }

// Says returns the setting's value in the person's file, or "" if the file does not set it.
func (s setting) Says() string {
	if s.InFile == nil {
		return ""
	}
	return shownValue(s.InFile)
}

// Runs returns the value that this process still uses, or "" if that is Value.
func (s setting) Runs() string {
	if s.Running == nil {
		return ""
	}
	return shownValue(s.Running)
}

// Form returns the kind of input for the setting: "choice", "list", "number" or "text".
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

// Options returns the values to choose from, or none if the setting accepts other input.
func (s setting) Options() []string {
	if s.Kind == "true or false" {
		return []string{"true", "false"}
	}
	return s.Choices
}

// Typed returns the initial input of the setting's form: the value in the file, else the one in
// effect. A list of texts has a line for each.
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

// settingPageData is the data of the page of one setting.
type settingPageData struct {
	setting
	File, Version string
}

// Subject returns the setting's key for the page's title.
func (s settingPageData) Subject() string { return s.Key }

// settingChange is a refused change: the fault, and the input.
type settingChange struct {
	Fault *aai.Error
	Typed string
}

func showSetting(v *pageRequest) (any, error) {
	var found answer.Settings
	if err := v.read("settings", map[string]any{"key": v.pathValue("key")}, &found); err != nil {
		return nil, err
	}
	if len(found.Settings) != 1 {
		return nil, aai.Errorf(aai.Internal, "the answer of settings has %d settings; expected one", len(found.Settings))
	}
	s := setting{found.Settings[0]}
	s.About = v.aboutSetting(s)
	return settingPageData{setting: s, File: found.File, Version: found.Version}, nil
}

// changeSetting changes a setting; nil removes it from the file. The gateway asks the
// person before it widens rights.
func changeSetting(v *pageRequest, value any) (any, error) {
	args := map[string]any{"key": v.pathValue("key"), "value": value}
	if seen := v.form.Get("seen"); seen != "" {
		args["seen"] = seen
	}
	text, _ := value.(string)
	text = strings.ReplaceAll(text, "\r\n", "\n") // forms send "\r\n"
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
	said := v.text("setting", "is", now.Key, now.ValueText())
	if value != nil && now.Source != "file" {
		said += " " + v.text("setting", "overruled", shownValue(now.From))
	}
	v.setNotice(said + " " + v.text("setting", "later"))
	return nil, nil
}
