package delta

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

const scene = `
window "App" active
  menubar
    menu "File"
      menuitem "New" hidden
      menuitem "Open" hidden
      menuitem "Quit" hidden
  label "12:30:01" key=clock
  button "Press" key=press
    text "Press" key=presstext
  text "0 times" key=count
  textbox "Name" editable key=name
  textbox "Password" editable password key=secret
  checkbox "Agree" checkable key=agree
  slider "Volume" range=0..100 value="40" key=volume
  scrollbar value="0" key=bar
  list "Fruits" key=fruits
    option "Apple" selectable key=apple
    option "Pear" selectable key=pear
  generic key=area
`

func between(t *testing.T, before, after string, focus desktop.ID) Delta {
	t.Helper()
	return Between(snapshottest.Read(t, before), snapshottest.Read(t, after), Options{Ref: func(i int) string { return fmt.Sprintf("e%d", i+1) }, Focus: focus})
}

func TestBetween(t *testing.T) {
	for _, c := range snapshottest.Rows[struct {
		Name, Old, New string // pairs of lines replaced, after |
		Focus          desktop.ID
		Want           string
	}](t, "between.json") {
		t.Run(c.Name, func(t *testing.T) {
			after := scene
			olds, news := strings.Split(c.Old, "|"), strings.Split(c.New, "|")
			if len(olds) == len(news) {
				for i := range olds {
					after = strings.Replace(after, olds[i], news[i], 1)
				}
			} else {
				after = strings.Replace(after, c.Old, strings.ReplaceAll(c.New, "|", "\n"), 1)
			}
			assert.Assert(t, c.Old == "" || after != scene, "the case changes nothing")
			d := between(t, scene, after, c.Focus)
			assert.Check(t, is.DeepEqual(c.Want, d.Text))
			assert.Assert(t, !strings.Contains(d.Text, "s3cret"), "%+v", d)
			assert.Equal(t, d.Tokens, sanitize.EstimateTokens(d.Text), "%+v", d)
			assert.Assert(t, d.Tokens <= 200, "%+v", d)
		})
	}
}

// TestGroups checks that many removed elements are shortened and all counted.
func TestGroups(t *testing.T) {
	var rows strings.Builder
	for i := range 100 {
		fmt.Fprintf(&rows, "    option \"Kiwi %d\" selectable key=kiwi%d\n", i, i)
	}
	many := scene + "  list \"Kiwis\" key=kiwis\n" + rows.String()
	few := scene + "  list \"Kiwis\" key=kiwis\n"
	came := between(t, few, many, "")
	assert.Assert(t, strings.HasPrefix(came.Text, `+ in list "Kiwis" [e20]: option "Kiwi 0" [e21], option "Kiwi 1" [e22]`), "%d and %d more: %s", len(came.Changes), came.Omitted, came.Text)
	assert.Equal(t, len(came.Changes)+came.Omitted, 100, "%d %d %s", len(came.Changes), came.Omitted, came.Text)
	went := between(t, many, few, "")
	assert.Check(t, is.Equal(went.Text, `- in list "Kiwis" [e20]: option "Kiwi 0", option "Kiwi 1", option "Kiwi 2", option "Kiwi 3", … 96 more`+"\n"))
	for _, c := range went.Changes {
		assert.Check(t, is.Equal(c.Kind, Gone), "%+v", c)
		assert.Check(t, is.Equal(c.Index, -1), "%+v", c)
		assert.Check(t, is.Equal(c.Ref, ""), "%+v", c)
	}
}

func TestShowsWhereLongTextsDiffer(t *testing.T) {
	long := strings.Repeat("Лорем ipsum ", 20)
	d := between(t, scene, strings.Replace(scene, `"Name" editable`, `"Name" editable value="`+long+`"`, 1), "")
	assert.Check(t, is.Contains(d.Text, `value "" → "Лорем ipsum`))
	before := strings.Replace(scene, `"Name" editable`, `"Name" editable value="`+long+`ä end"`, 1)
	after := strings.Replace(scene, `"Name" editable`, `"Name" editable value="`+long+`ü end"`, 1)
	d = between(t, before, after, "")
	assert.Assert(t, is.Contains(d.Text, `ä end" → "…`))
	assert.Assert(t, is.Contains(d.Text, `ü end"`))
}

// TestShowsWhatFitsWhole checks that a text that just fits is not shortened.
func TestShowsWhatFitsWhole(t *testing.T) {
	fits := strings.Repeat("a", 59)
	before, after := strings.Replace(scene, `"Name" editable`, `"Name" editable value="`+fits+`b"`, 1), strings.Replace(scene, `"Name" editable`, `"Name" editable value="`+fits+`c"`, 1)
	assert.Check(t, is.Contains(between(t, before, after, "").Text, `"`+fits+`b" → "`+fits+`c"`))
}

// TestSecretsAreNoNames checks that a password value never replaces a name.
func TestSecretsAreNoNames(t *testing.T) {
	for states, told := range map[string]bool{"": true, "password": false} {
		d := between(t, scene, scene+`  text "" value="s3cret" `+states+"\n", "")
		assert.Check(t, is.Equal(strings.Contains(d.Text, "s3cret"), told), "%q %s", states, d.Text)
	}
}

// TestIDUsedAgain checks that reuse of an ID by another kind of element is not a change of the first one.
func TestIDUsedAgain(t *testing.T) {
	d := between(t, scene, strings.Replace(scene, `checkbox "Agree" checkable key=agree`, `link "Agree" key=agree`, 1), "")
	want := "+ link \"Agree\" [e13]\n- checkbox \"Agree\"\n"
	assert.Check(t, is.Equal(d.Text, want))
}

// TestChosenInClosedMenu checks that only the item that was acted on is reported without showing.
func TestChosenInClosedMenu(t *testing.T) {
	before := "window \"W\"\n  menubar\n    menu \"View\"\n      menuitem \"Bar\" hidden key=bar\n      menuitem \"Grid\" hidden key=grid\n"
	after := strings.NewReplacer("key=bar", "checked key=bar", "key=grid", "checked key=grid").Replace(before)
	assert.Check(t, is.Equal(between(t, before, after, "bar").Text, "~ menuitem \"Bar\" [e4] checked\n"))
}

// TestMoved checks that an element with a new parent is neither new nor gone.
func TestMoved(t *testing.T) {
	before := "window \"W\"\n  group \"A\" key=a\n    button \"B\" key=b checkable\n  group \"C\" key=c\n"
	after := "window \"W\"\n  group \"C\" key=c\n    group \"New\" key=new\n      button \"B\" key=b checkable checked\n"
	d := between(t, before, after, "")
	assert.Assert(t, is.Contains(d.Text, "~ button \"B\" [e4] checked"))
	assert.Assert(t, !strings.Contains(d.Text, "- button"), d.Text)
}

// TestInAnotherOrder checks that the container of sorted rows is reported, and marked as ambient if the
// order changes by itself.
func TestInAnotherOrder(t *testing.T) {
	rows := func(names, states string) *desktop.Snapshot {
		outline := "window \"W\"\n  list \"People\" key=list " + states + "\n"
		for name := range strings.FieldsSeq(names) {
			outline += fmt.Sprintf("    option %q key=%s\n", name, name)
		}
		return snapshottest.Read(t, outline)
	}
	for names, want := range map[string]string{
		"Amy Bob Cat": "", "Amy Cat": "- option \"Bob\"\n", "Cat Bob Amy": "~ list \"People\" in another order\n", "Bob Cat Amy": "~ list \"People\" in another order\n",
	} {
		assert.Check(t, is.Equal(Between(rows("Amy Bob Cat", ""), rows(names, ""), Options{}).Text, want), names)
	}
	d := Between(rows("Amy Bob", "virtual"), rows("Bob Amy", "virtual"), Options{})
	assert.Check(t, is.Equal(d.Text, ""), "rows that a toolkit uses again: %s", d.Text)
	changed := changedAspects(rows("Amy Bob", ""), rows("Bob Amy", ""))
	assert.Check(t, is.Equal(changed["list"], Content), "unrest sees %v", changed)
}

func TestWithout(t *testing.T) {
	s := snapshottest.Read(t, scene)
	d := Between(nil, nil, Options{})
	assert.Check(t, is.Equal(d.Text, ""), "%+v", d)
	assert.Check(t, is.Equal(d.Omitted, 0), "%+v", d)
	d = Between(nil, s, Options{})
	assert.Assert(t, strings.HasPrefix(d.Text, `+ window "App": `), "%+v", d)
	assert.Assert(t, !strings.Contains(d.Text, "["), "%+v", d)
	d = Between(s, nil, Options{})
	assert.Check(t, is.Equal(d.Text, "- window \"App\"\n"), "%+v", d)
}

// TestTheMostTellingComesFirst checks the ranking for any order in the snapshot and for appeared, gone and
// changed elements.
func TestTheMostTellingComesFirst(t *testing.T) {
	const before = `
window "App" active
  label "12:30:01" key=clock
  label "Inbox 3 new" key=inbox
  button "Old" key=old
  textbox "Name" editable key=name
  button "Press" key=press
`
	for role, want := range map[string]string{"dialog": "+ dialog", "alertdialog": "+ alertdialog", "alert": "+ alert", "window": "+ window"} {
		after := strings.NewReplacer("12:30:01", "12:30:02", "3 new", "is empty", `  button "Old" key=old`+"\n", "", "editable", "editable focused", `"Press"`, `"Pressed"`).Replace(before) +
			role + " \"Really?\"\n"
		d := between(t, before, after, "press")
		var got []string
		for line := range strings.Lines(d.Text) {
			got = append(got, strings.Join(strings.Fields(line)[:2], " "))
		}
		all := []string{"~ button", "focus →", want, "~ label", "- button", "~ label"}
		assert.Check(t, is.Equal(cmp.Diff(all, got), ""), "%s %s", role, d.Text)
		assert.Check(t, is.Contains(strings.Split(d.Text, "\n")[5], "12:30"), "%s %s", role, d.Text)
		gone := between(t, after, before, "press")
		assert.Check(t, strings.HasPrefix(strings.Split(gone.Text, "\n")[1], "- "+role), "%s, gone:\n%s", role, gone.Text)
	}
}

// TestEqualLines checks that equal lines are merged.
func TestEqualLines(t *testing.T) {
	const bar = "window \"App\"\n  toolbar \"Edit\"\n    button \"Cut\"\n    button \"Cut\"\n  label \"a\"\n  label \"b\"\n"
	d := between(t, bar, strings.NewReplacer(`label "a"`, `status "Saved"`, `label "b"`, `status "Saved"`).Replace(bar), "")
	want := "+ status \"Saved\" (2 times)\n- label \"a\"\n- label \"b\"\n"
	assert.Equal(t, d.Text, want)
	assert.Assert(t, is.Len(d.Changes, 3))
	assert.Equal(t, d.Omitted, 0)
	d = between(t, bar, strings.ReplaceAll(bar, `"Cut"`, `"Cut" disabled`), "")
	assert.Check(t, is.Len(d.Changes, 2), "what has refs of its own is told by each:\n%s", d.Text)
}

// TestSpaceAlone checks that the difference of two texts that look the same is visible.
func TestSpaceAlone(t *testing.T) {
	before, after := snapshottest.Read(t, scene), snapshottest.Read(t, scene)
	for i := range after.Elements {
		if after.Elements[i].Name == "Name" {
			before.Elements[i].Value, after.Elements[i].Value = "Grüße", "Grüße\n"
		}
	}
	got, want := Between(before, after, Options{}).Text, `~ textbox "Name" value "Grüße" with other space or ends of lines`+"\n"
	assert.Check(t, is.Equal(got, want))
}

// TestOneMore checks the wording of the number of omitted changes.
func TestOneMore(t *testing.T) {
	assert.Check(t, is.Equal(MoreChanges(1), "1 more change"))
	assert.Check(t, is.Equal(MoreChanges(12), "12 more changes"))
}

// TestLagging checks that only changes that a program shows late are ambient.
func TestLagging(t *testing.T) {
	const bars = `
window "App"
  toolbar
    button "Undo" disabled key=undo
    button "Bold" key=bold
  button "Save" disabled key=save
  status
    label "1 word" key=words
    label "Ready" key=ready
`
	for name, c := range map[string]struct {
		old, new string
		focus    desktop.ID
		want     bool
	}{
		"a tool bar's command":     {`"Undo" disabled`, `"Undo"`, "bold", true},
		"the one that was given":   {`"Undo" disabled`, `"Undo"`, "undo", false},
		"its name":                 {`"Undo" disabled`, `"Undo Typing"`, "bold", false},
		"pressed":                  {`"Bold"`, `"Bold" pressed`, "save", false},
		"a button of its own":      {`"Save" disabled`, `"Save"`, "bold", false},
		"a number of a status bar": {`"1 word"`, `"2 words"`, "bold", true},
		"what a status bar says":   {`"Ready"`, `"Saved"`, "bold", false},
		"whether it is of any use": {`"Ready"`, `"Ready" disabled`, "bold", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lagging := range []bool{true, false} {
				d := Between(snapshottest.Read(t, bars), snapshottest.Read(t, strings.Replace(bars, c.old, c.new, 1)), Options{Focus: c.focus, Lagging: lagging})
				assert.Assert(t, is.Len(d.Changes, 1), lagging)
				assert.Equal(t, d.Changes[0].Ambient, (c.want && lagging), lagging)
			}
		})
	}
}
