package query

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// one returns a window with one element.
func one(role desktop.Role, name string) *desktop.Snapshot {
	states := desktop.Showing | desktop.Enabled
	return &desktop.Snapshot{Elements: []desktop.Element{
		{Role: desktop.Window, Name: "w", Parent: -1, End: 2, States: states},
		{Role: role, Name: name, Parent: 0, End: 2, States: states},
	}}
}

// allowsAction calls q.allowsAction for the snapshot's i'th element, hidden or not.
func allowsAction(q *Query, s *desktop.Snapshot, i int) bool {
	return q.allowsAction(newFinder(s, Options{Hidden: true, Root: -1}), i)
}

// TestAllowsAction checks that a pressable element needs its name, and that whole words suffice for an
// element that is filled in or chosen.
func TestAllowsAction(t *testing.T) {
	for _, c := range snapshottest.Rows[struct {
		Role        desktop.Role
		Name, Query string
		Want        bool
	}](t, "allows.json") {
		q, err := Parse(c.Query, Auto)
		assert.NilError(t, err, c.Query)
		assert.Check(t, is.Equal(allowsAction(q, one(c.Role, c.Name), 1), c.Want), "%s %q %q", c.Role, c.Name, c.Query)
	}
}

// TestAllowsActionByDescription checks that the description replaces a missing name.
func TestAllowsActionByDescription(t *testing.T) {
	s := one(desktop.Button, "")
	s.Elements[1].Description = "Bold text"
	for asked, want := range map[string]bool{"bold text": true, "bold": false} {
		q, err := Parse(asked, Auto)
		assert.NilError(t, err, "%q %t", asked, !want)
		assert.Equal(t, allowsAction(q, s, 1), want, "%q %t", asked, !want)
	}
	s.Elements[1].Name = "B"
	q, err := Parse("bold text", Auto)
	assert.NilError(t, err)
	assert.Assert(t, !allowsAction(q, s, 1), "a tooltip is another's name %v", err)
}

// bases returns names with distinct meanings.
func bases() []string {
	return []string{
		"OK", "Bookmark this tab", "Save", "Don't Save", "Save As", "Save all", "Close", "Close without saving", "Close all", "Lock", "Unlock", "Delete", "Delete all data", "Delete Al Dat", "Undelete",
		"Speichern", "Nicht speichern", "Enregistrer", "Ne pas enregistrer", "Сохранить", "Не сохранять", "保存", "不保存", "别保存", "另存为", "保存しない", "บันทึก", "ไม่บันทึก", "저장", "저장 안 함", "حفظ", "عدم الحفظ",
		"Page 2", "Page 20", "Plan A", "Plan B", "C", "C++", "*", "+1", "-1",
	}
}

// TestAllowsActionByOwnName checks that a pressable element is identified by its own name and no other, for
// all usual decorations and spellings.
func TestAllowsActionByOwnName(t *testing.T) {
	firing := []desktop.Role{desktop.Button, desktop.MenuItem, desktop.MenuCheckbox, desktop.MenuRadio, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Tab}
	asWritten := []func(string) string{
		func(name string) string { return name }, strings.ToUpper, strings.ToLower,
		func(name string) string { return " " + strings.ReplaceAll(name, " ", "  ") + " " },
		func(name string) string { return strings.ReplaceAll(name, " ", "\u00a0") },
		func(name string) string { return strings.ReplaceAll(name, "'", "’") },
		func(name string) string { return name + " \u200b" },
	}
	added := []string{"", "...", "…", "\tCtrl+S", " Ctrl+Shift+S", " (12)", " [3]", "（99+）"}
	rapid.Check(t, func(t *rapid.T) {
		name, asked := rapid.SampledFrom(bases()).Draw(t, "name"), rapid.SampledFrom(bases()).Draw(t, "asked")
		shown := rapid.SampledFrom(asWritten).Draw(t, "as apps write it")(name)
		if first := []rune(strings.TrimLeft(shown, " ")); rapid.Bool().Draw(t, "with a mnemonic") && len(first) > 1 && wordRune(first[0]) {
			shown = rapid.SampledFrom([]string{"_", "&"}).Draw(t, "mark") + string(first)
		}
		shown += rapid.SampledFrom(added).Draw(t, "added")
		s := one(rapid.SampledFrom(firing).Draw(t, "role"), shown)
		q, err := Parse(quote(rapid.SampledFrom(asWritten).Draw(t, "as asked")(asked)), Auto)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(allowsAction(q, s, 1), (name == asked)))
		if found := q.FindForAction(s, Options{Root: -1}).Matches; (len(found) == 1) != (name == asked) {
			t.Errorf("%q for %q: surely found is %v", shown, asked, found)
		}
		part, err := Parse("contains:"+asked, Auto)
		assert.NilError(t, err)
		found := part.FindForAction(s, Options{Root: -1}).Matches
		assert.Check(t, len(found) != 1 || strings.Contains(newSearchText(shown).plain, newSearchText(asked).plain), "%q for contains:%s: found", shown, asked)
	})
}

// TestNegationForbidsAction checks in many languages that a negating word changes the meaning of a row or a
// link.
func TestNegationForbidsAction(t *testing.T) {
	for name, asked := range map[string]string{
		"Don't save the file": "save the file", "Continue without saving": "saving", "Never ask again": "ask again", "It won't close": "close", "un-mute all": "mute all", "Cannot open": "open",
		"Nicht speichern": "speichern", "Ohne Speichern schließen": "schließen", "Keine Nachrichten senden": "senden",
		"Ne pas enregistrer": "enregistrer", "Fermer sans enregistrer": "fermer", "N'enregistrer rien": "enregistrer",
		"Cerrar sin guardar": "cerrar", "No guardar": "guardar", "Chiudi senza salvare": "chiudi", "Non salvare": "salvare",
		"Fechar sem salvar": "fechar", "Não salvar": "salvar", "Nu salva": "salva", "Închide fără salvare": "închide",
		"Sluiten zonder opslaan": "sluiten", "Stäng utan att spara": "stäng", "Luk uden at gemme": "luk", "Ikke lagre": "lagre",
		"Älä tallenna": "tallenna", "Sulje tallentamatta": "sulje", "Bezárás mentés nélkül": "bezárás", "Ne mentse": "mentse",
		"Nie zapisuj": "zapisuj", "Zavřít bez uložení": "zavřít", "Не сохранять": "сохранять", "Закрыть без сохранения": "закрыть", "Не зберігати": "зберігати",
		"Κλείσιμο χωρίς αποθήκευση": "κλείσιμο", "Kaydetmeden kapat": "kapat", "לסגור בלי לשמור": "לסגור", "إغلاق بدون حفظ": "إغلاق",
		"सहेजे बिना बंद करें": "बंद करें", "저장하지 않고 닫기": "닫기", "저장 안 함": "저장", "Đóng mà không lưu": "đóng", "Jangan simpan": "simpan", "Tutup tanpa menyimpan": "tutup",
		"不保存": "保存", "不 保存": "保存", "别 删除": "删除", "保存しない": "保存", "ไม่บันทึก": "บันทึก", "ບໍ່ບັນທຶກ": "ບັນທຶກ", "កុំរក្សាទុក": "រក្សាទុក", "မသိမ်းပါ": "သိမ်းပါ",
	} {
		q, err := Parse(quote(asked), Auto)
		assert.NilError(t, err, asked)
		for _, role := range []desktop.Role{desktop.Link, desktop.Row, desktop.Cell, desktop.Textbox, desktop.Button} {
			assert.Check(t, !allowsAction(q, one(role, name), 1), "%s %q is surely meant by %q", role, name, asked)
		}
		whole, err := Parse(quote(name), Auto)
		assert.NilError(t, err, "%q", name)
		assert.Assert(t, allowsAction(whole, one(desktop.Link, name), 1), "%q is not meant by its own name: %v", name, err)
	}
}

// TestAllowsActionByIdentifier checks that an identifier does not identify an element with a different
// name.
func TestAllowsActionByIdentifier(t *testing.T) {
	for _, c := range []struct {
		name, identifier, query string
		want                    bool
	}{
		{"Close without saving", "close", "close", false},
		{"Close without saving", "Close", "Close", false},
		{"", "close", "close", true},
		{"Don't Save", "save-btn", "save-btn", true},
		{"Don't Save", "saveButton", "saveButton", true},
		{"3", "2", "2", false},
		{"End every session", "log-off", "log-off", false},
		{"Delete everything", "don't", "don't", false},
		{"Don't Save", "save_all", "save_all", true},
		{"Don't Save", "save", "identifier:save", true},
		{"Don't Save", "save", "id:save", true},
	} {
		s := one(desktop.Button, c.name)
		s.Elements[1].Identifier = c.identifier
		q, err := Parse(c.query, Auto)
		assert.NilError(t, err, "%q %s %q", c.name, c.identifier, c.query)
		assert.Equal(t, allowsAction(q, s, 1), c.want, "%q %s %q", c.name, c.identifier, c.query)
	}
}

// TestFindForActionMatchesName checks that neither similar elements nor identifiers hide an element of the
// requested name, in any spelling.
func TestFindForActionMatchesName(t *testing.T) {
	s := snapshottest.Read(t, `
window "Browser" active
  button "Close without saving" id="close"
  button "Close"
  document "Page"
    button "CLOSE…"
    button "Delete all"
  menubar
    menu "Edit"
      menuitem "_Delete" hidden
`)
	for asked, want := range map[string][]int{"close": {2, 4}, "Close": {2, 4}, "Delete al": nil} {
		q, err := Parse(asked, Auto)
		assert.NilError(t, err)
		found := q.FindForAction(s, Options{Root: -1})
		assert.Check(t, slices.Equal(found.Matches, want), "%q %v %v", asked, found.Matches, want)
	}
	q, err := Parse("Close", Auto)
	if err != nil || !slices.Equal(q.ClosestMatches(s, []int{2, 4}), []int{2}) {
		t.Errorf("%v, closest %v", err, q.ClosestMatches(s, []int{2, 4}))
	}
	if q, err = Parse("Delete", Auto); err != nil || !slices.Equal(q.FindForAction(s, Options{Root: -1}).HiddenMatches, []int{8}) {
		t.Errorf("%v, hidden %v", err, q.FindForAction(s, Options{Root: -1}).HiddenMatches)
	}
}

// TestWholeDescriptionExcludesOthers checks that an element whose tooltip is the query excludes a
// field with more words, without being found itself.
func TestWholeDescriptionExcludesOthers(t *testing.T) {
	s := one(desktop.Textbox, "Station thread")
	s.Elements[0].End = 3
	s.Elements = append(s.Elements, desktop.Element{Role: desktop.Button, Name: "Save", Description: "Thread", Parent: 0, End: 3, States: desktop.Showing | desktop.Enabled})
	q, err := Parse("Thread", Auto)
	assert.NilError(t, err)
	assert.Check(t, is.Len(q.FindForAction(s, Options{Root: -1}).Matches, 0))
}

// TestWholeNameExcludesOthers checks that an element with the whole name of the query, even a label or a
// hidden element, excludes a field with more words.
func TestWholeNameExcludesOthers(t *testing.T) {
	for name, states := range map[string]desktop.State{"a label": desktop.Showing | desktop.Enabled, "a hidden element": 0} {
		s := one(desktop.Textbox, "Zone invoice")
		s.Elements[0].End = 3
		s.Elements = append(s.Elements, desktop.Element{Role: desktop.Label, Name: "Zone", Parent: 0, End: 3, States: states})
		q, err := Parse("Zone", Auto)
		assert.NilError(t, err)
		found := q.FindForAction(s, Options{Root: -1})
		assert.Check(t, !slices.Contains(found.Matches, 1), "with %s: the field with more words is found: %+v", name, found)
		assert.Check(t, slices.Contains(slices.Concat(found.Matches, found.HiddenMatches), 2), "with %s: it is not found: %+v", name, found)
	}
}
