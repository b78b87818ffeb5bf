package introspect

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

const (
	gtkActions  = "org.gtk.Actions"
	gtkMenus    = "org.gtk.Menus"
	kdeWindow   = "org.kde.KMainWindow"
	application = "org.freedesktop.Application"
)

// Limits on actions.
const (
	maxActions   = 300
	maxActionLen = 200
)

// actions asks an object for its actions and stores them in o.
func (w *objectWalk) actions(ctx context.Context, o *object) error {
	at := address{w.at.bus, w.at.service, o.Path}
	for _, f := range o.Interfaces {
		var err error
		switch f.Name {
		case gtkActions:
			o.Actions, err = w.gtk(ctx, at)
		case kdeWindow:
			o.Main, err = w.kde(ctx, at)
		}
		if err == nil {
			continue
		}
		e := aai.AsError(err)
		if w.isFatal(ctx, e) {
			return e
		}
		w.notes.add("%s %s does not list its actions: %s", at.service, at.path, e.Message)
	}
	return nil
}

// gtk reads the actions that org.gtk.Actions describes.
func (w *objectWalk) gtk(ctx context.Context, at address) ([]action, error) {
	answer, err := w.asker.call(ctx, at, gtkActions, "DescribeAll")
	if err != nil {
		return nil, err
	}
	described, _ := answer.(map[string]any)
	var found []action
	for name, about := range described {
		a, ok := describedAction(name, about)
		if !ok {
			w.notes.add("an action of %s %s is left out: %q is described in another form than org.gtk.Actions has", at.service,
				at.path, aai.CleanLabel(name, 60))
			continue
		}
		if isTransientName(name) {
			w.notes.add("actions of %s %s are left out, as their names differ for each object", at.service, at.path)
			continue
		}
		found = append(found, a)
	}
	slices.SortFunc(found, func(a, b action) int { return strings.Compare(a.Name, b.Name) })
	if len(found) > maxActions {
		w.notes.add("%s %s has %d actions; %d are looked at", at.service, at.path, len(found), maxActions)
		found = found[:maxActions]
	}
	if len(found) > 0 {
		w.labelActions(ctx, at, found)
	}
	return found, nil
}

// describedAction reads (bgav): whether it is enabled, its parameter type, its state if any.
func describedAction(name string, about any) (a action, ok bool) {
	fields, _ := about.([]any)
	if len(fields) != 3 || !plainText(name) || len(name) > maxActionLen {
		return a, false
	}
	param, isText := fields[1].(string)
	state, isList := fields[2].([]any)
	if !isText || !isList || strings.Contains(param, "h") {
		return a, false
	}
	if _, err := wire.ParseType(param); param != "" && err != nil {
		return a, false
	}
	a = action{Name: name, Param: param}
	if len(state) == 1 {
		switch state[0].(type) {
		case bool:
			a.State = "b"
		case string:
			a.State = "s"
		default:
			a.State = "v"
		}
	}
	return a, true
}

// plainText reports whether a name can be displayed unchanged.
func plainText(name string) bool { return name != "" && aai.CleanLabel(name, len(name)) == name }

// labelActions sets the menu labels of the actions.
func (w *objectWalk) labelActions(ctx context.Context, at address, found []action) {
	main := mainPath(w.at.service)
	menus := []string{at.path + "/menus/menubar", at.path + "/menus/appmenu", main + "/menus/menubar",
		main + "/menus/appmenu"}
	slices.Sort(menus)
	for _, path := range slices.Compact(menus) {
		m := w.menu(ctx, address{at.bus, at.service, path})
		for i := range found {
			for _, prefix := range []string{"app.", "win.", "unity.", ""} {
				name := prefix + found[i].Name
				if words := m.labels[name]; words != "" && found[i].Label == "" {
					found[i].Label = words
				}
				if choices := m.choices[name]; found[i].Param == "s" && len(found[i].Choices) == 0 {
					found[i].Choices = choices
				}
			}
		}
	}
}

// A menu holds the labels and choices of actions, by action name with its prefix.
type menu struct {
	labels  map[string]string
	choices map[string][]choice
}

// Limits on menus.
const (
	maxMenuGroups = 64
	maxMenuItems  = 2000
)

// menu reads a menu. It is empty for a program without menus.
func (w *objectWalk) menu(ctx context.Context, at address) menu {
	read := menu{map[string]string{}, map[string][]choice{}}
	asked := map[uint64]bool{}
	waiting, items := []uint64{0}, 0
	for len(waiting) > 0 && len(asked) < maxMenuGroups {
		group := waiting[0]
		waiting = waiting[1:]
		if asked[group] {
			continue
		}
		asked[group] = true
		answer, err := w.asker.call(ctx, at, gtkMenus, "Start", []uint64{group})
		if err != nil {
			return read
		}
		menus, _ := answer.([]any)
		for _, m := range menus {
			fields, _ := m.([]any)
			if len(fields) != 3 {
				continue
			}
			list, _ := fields[2].([]any)
			for _, item := range list {
				if about, ok := item.(map[string]any); ok && items < maxMenuItems {
					items++
					waiting = append(waiting, read.item(about)...)
				}
			}
		}
		_, _ = w.asker.call(ctx, at, gtkMenus, "End", []uint64{group})
	}
	return read
}

// maxChoices limits the choices of one action.
const maxChoices = 20

// item reads one item, and returns the groups of its submenus.
func (m menu) item(about map[string]any) (groups []uint64) {
	name, _ := about["action"].(string)
	words, _ := about["label"].(string)
	words = label(strings.TrimSuffix(strings.ReplaceAll(words, "_", ""), "…"))
	target, isText := about["target"].(string)
	switch {
	case name != "" && about["target"] == nil:
		m.labels[name] = words
	case name != "" && isText && plainText(target) && len(m.choices[name]) < maxChoices:
		m.choices[name] = append(m.choices[name], choice{target, words})
	}
	for _, link := range []string{":section", ":submenu"} {
		if at, ok := about[link].([]any); ok && len(at) == 2 {
			if group, ok := at[0].(uint64); ok {
				groups = append(groups, group)
			} else if group, ok := at[0].(int64); ok && group >= 0 {
				groups = append(groups, uint64(group))
			}
		}
	}
	return groups
}

// kde reads the actions in the menus of a KDE window.
func (w *objectWalk) kde(ctx context.Context, at address) ([]action, error) {
	answer, err := w.asker.call(ctx, at, kdeWindow, "actions")
	if err != nil {
		return nil, err
	}
	list := names(answer)
	slices.Sort(list)
	var found []action
	for _, name := range slices.Compact(list) {
		if !plainText(name) || len(name) > maxActionLen || len(found) == maxActions {
			continue
		}
		words := ""
		if tip, err := w.asker.call(ctx, at, kdeWindow, "actionToolTip", name); err == nil {
			words, _ = tip.(string)
		}
		found = append(found, action{Name: name, Label: label(tidyMarkup(words))})
	}
	return found, nil
}

// tidyMarkup removes Qt rich-text tags from a text.
func tidyMarkup(s string) string {
	var b strings.Builder
	inside := false
	for _, r := range s {
		switch {
		case r == '<':
			inside = true
		case r == '>' && inside:
			inside = false
			b.WriteByte(' ')
		case !inside:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "&", "")), " ")
}
