package lexicon

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestIsUnsavedTitle(t *testing.T) {
	for title, want := range map[string]bool{
		"*notes.txt - Mousepad": true, "notes.txt* - Editor": true, "notes.txt * — Kate": true, "● main.go - Code": true, "main.go ● Code": true, "Text [modified] - Vim": true, "Entwurf (geändert)": true,
		"notes.txt - Mousepad": false, "2 * 3": true, "Stars": false, "": false, "a*b": false, "Modified files": false,
	} {
		assert.Check(t, is.Equal(IsUnsavedTitle(title), want), "%q", title)
	}
}

func TestIsVagueLink(t *testing.T) {
	for name, want := range map[string][2]bool{ // vague as the name of a link, and of a button
		"Click here": {true, true}, " click  here… ": {true, true}, "Klicken Sie hier": {true, true}, "点击这里": {true, true}, "cliquez ici »": {true, true},
		"Read more": {true, false}, "More": {true, false}, "Weiterlesen": {true, false}, "Подробнее": {true, false}, "続きを読む": {true, false},
		"Read more about prices": {}, "All prices": {}, "Here Technologies": {}, "Klick": {}, "": {}, "|": {},
	} {
		got := [2]bool{IsVagueLink(name), IsClickHere(name)}
		assert.Check(t, is.Equal(got, want), "%q", name)
	}
}

func TestIsReloadLabel(t *testing.T) {
	for says, want := range map[string]bool{
		"Reload": true, "Reload this page (F5)": true, "Neu laden": true, "刷新": true, "Preload": false, "Load": false, "": false, "Refreshing drinks": false,
	} {
		assert.Check(t, is.Equal(IsReloadLabel(says), want), "%q", says)
	}
}
