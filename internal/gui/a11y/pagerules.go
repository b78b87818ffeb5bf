package a11y

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// valueAsName finds fields that are named by their content alone: it changes, and does not tell the purpose of the field.
func valueAsName(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if !isField(e) || desktop.IsBlank(e.Name) || a.isPart(i) || e.Frame.Empty() {
		return ""
	}
	isValue := e.Value == e.Name
	if e.Role == desktop.Combobox { // GTK 3 names it by the chosen item
		for c := i + 1; c < e.End; c++ {
			item := &a.Snapshot.Elements[c]
			isValue = isValue || item.Name == e.Name && (item.Role.IsMenuItem() || item.Role == desktop.Option)
		}
	}
	if !isValue {
		return ""
	}
	return "its name is only its value"
}

// clickableWithoutRole finds parts of pages that react to clicks, and are neither controls nor around or in one.
func clickableWithoutRole(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	switch e.Role {
	case desktop.Generic, desktop.Text, desktop.Paragraph:
	default:
		return ""
	}
	isClickable := slices.ContainsFunc(e.Actions, func(action string) bool { return action == "click" || action == "press" })
	if !isClickable || a.document(i) < 0 || e.Frame.Empty() || desktop.IsBlank(e.Name+a.contentName(i)) || a.isPart(i) {
		return ""
	}
	for p := e.Parent; p >= 0; p = a.Snapshot.Elements[p].Parent {
		if up := &a.Snapshot.Elements[p]; up.Role == desktop.Label || up.Role.IsInteractive() {
			return ""
		}
	}
	for c := i + 1; c < e.End; c++ {
		inner := &a.Snapshot.Elements[c]
		if inner.Role.IsInteractive() || inner.Role.IsRefContainer() || inner.Role == desktop.Heading || len(inner.Actions) > 0 && inner.Role == desktop.Generic {
			return "" // it may only pass on the clicks of its parts
		}
	}
	return "it reacts to clicks, and has no role such as button"
}

// frameWithoutTitle finds frames in a page that have no title.
func frameWithoutTitle(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Document || e.States.Has(desktop.Editable) || e.Frame.Empty() || e.Parent < 0 || a.document(e.Parent) < 0 {
		return ""
	}
	frame := &a.Snapshot.Elements[e.Parent]
	if frame.Role == desktop.Group && !desktop.IsBlank(frame.Name) || !desktop.IsBlank(e.Name) {
		return ""
	}
	return "the frame has no title"
}

// emptyHeading finds headings of pages without a text.
func emptyHeading(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Heading || !desktop.IsBlank(e.Name) || a.contentName(i) != "" || a.document(i) < 0 {
		return ""
	}
	return "it has no text"
}

// firstHeading finds pages whose headings begin below the first level, and have none of it.
func firstHeading(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	page := a.document(i)
	if e.Role != desktop.Heading || e.Level < 2 || page < 0 || !a.isPage(page) {
		return ""
	}
	for other := page; other < a.Snapshot.Elements[page].End; other++ {
		h := &a.Snapshot.Elements[other]
		if h.Role == desktop.Heading && (other < i || h.Level < 2) { // a level of 0 is unknown
			return ""
		}
	}
	return fmt.Sprintf("the first heading has the level %d, and the page has none of the level 1", e.Level)
}

// canvasWithoutText finds drawings in pages that say nothing to a screen reader.
func canvasWithoutText(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Canvas || !desktop.IsBlank(e.Name) || e.Description != "" || a.document(i) < 0 || e.Frame.Empty() || a.contentName(i) != "" {
		return ""
	}
	return "the drawing has no text alternative"
}

// sliderWithoutValue finds sliders of pages that report no value. Browsers report one of their own to the platform, so it
// is known by DevTools alone.
func sliderWithoutValue(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Slider || !e.DevTools || strings.TrimSpace(e.Value) != "" {
		return ""
	}
	return "it reports no value"
}
