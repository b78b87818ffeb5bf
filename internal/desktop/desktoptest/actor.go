package desktoptest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

func (u *suite) actorTests() []test {
	return []test{
		{"press", "presses", (*suite).press}, {"twins", "twin", (*suite).twins}, {"late effect", "slow", (*suite).late},
		{"check", "agree", (*suite).check}, {"text", "name", (*suite).text}, {"lines", "notes", (*suite).lines},
		{"long text", "notes", (*suite).longText}, {"password", "password", (*suite).password},
		{"slider", "volume", (*suite).slider}, {"spin button", "count", (*suite).spinner},
		{"item", "fruit", (*suite).item}, {"combo box", "colour", (*suite).combo}, {"tab", "tab", (*suite).tab},
		{"menu", "menu", (*suite).menu}, {"drawn anew", "shuffled", (*suite).shuffle}, {"dialog", "dialog", (*suite).dialog},
		{"disabled", "presses", (*suite).disabled}, {"hidden", "hidden", (*suite).hide}, {"unable", "", (*suite).unsupportedActions},
	}
}

// perform executes act, and reports whether the program supports it. Unsupported acts must be listed in the
// Subject.
func (u *suite) perform(e desktop.Element, act desktop.Act) bool {
	u.Helper()
	deed := string(act.Verb) + " " + e.Name
	err := u.Backend.Actor.Execute(u.within(), u.app, e.ID, act)
	if slices.Contains(u.Unsupported, deed) {
		u.refused(err, aai.AutomationNotSupported)
		return false
	}
	if err != nil {
		u.Fatalf("%s: %v", deed, err)
	}
	return true
}

func (u *suite) press() {
	for range 2 {
		n := u.number("presses") + 1
		before := u.snapshot().Version
		if !u.perform(u.control("Press"), desktop.Act{Verb: desktop.Press}) {
			return
		}
		u.waitState("presses", n)
		u.until(func() error {
			shot := u.snapshot()
			want := fmt.Sprintf("Pressed %v times", n)
			if !slices.ContainsFunc(shot.Elements, func(e desktop.Element) bool { return e.Name == want }) {
				return fmt.Errorf("the snapshot does not contain %q", want)
			}
			if shot.Version == before {
				return fmt.Errorf("the snapshot has the change, but its version is still %d", before)
			}
			return nil
		})
	}
}

func (u *suite) twins() {
	for i, twin := range all(u.snapshot(), "Twin", rolesOf("Twin")) {
		if u.perform(twin, desktop.Act{Verb: desktop.Press}) {
			u.waitState("twin", float64(i+1))
		}
	}
}

func (u *suite) late() {
	n := u.number("slow") + 1
	if u.perform(u.control("Slow"), desktop.Act{Verb: desktop.Press}) {
		u.waitState("slow", n)
	}
}

func (u *suite) check() {
	for _, want := range []bool{true, false} {
		if !u.perform(u.control("Agree"), desktop.Act{Verb: desktop.Press}) {
			return
		}
		u.waitState("agree", want)
		u.until(func() error {
			if got := u.control("Agree").States.Has(desktop.Checked); got != want {
				return fmt.Errorf("the snapshot says that checked is %v", got)
			}
			return nil
		})
	}
}

// holds waits until a control's value is the text.
func (u *suite) holds(name, want string) {
	u.Helper()
	u.until(func() error {
		e, err := u.Backend.Tree.Read(u.within(), u.app, u.control(name).ID)
		if err != nil {
			return err
		}
		if strings.TrimSuffix(e.Value, "\n") != strings.TrimSuffix(want, "\n") { // rich text ends with a line break of its own
			return fmt.Errorf("%s has the value %q, want %q", name, e.Value, want)
		}
		return nil
	})
}

func (u *suite) text() {
	const first, more = "Grüße, 日本 €🙂", "é!"
	if u.perform(u.control("Full name"), desktop.Act{Verb: desktop.SetText, Text: first}) {
		u.waitState("name", first)
		u.holds("Full name", first)
	}
	if u.perform(u.control("Full name"), desktop.Act{Verb: desktop.SetText, Text: ""}) {
		u.waitState("name", "")
	}
	if u.perform(u.control("Full name"), desktop.Act{Verb: desktop.InsertText, Text: more}) {
		u.waitState("name", more)
		u.holds("Full name", more)
	}
}

func (u *suite) lines() {
	if u.perform(u.control("Notes"), desktop.Act{Verb: desktop.SetText, Text: "one\ntwo"}) {
		u.waitState("notes", "one\ntwo")
		u.holds("Notes", "one\ntwo")
	}
}

// longText checks that a snapshot cuts a long text and that Read returns it completely.
func (u *suite) longText() {
	long := strings.Repeat("äöü 🙂 ", desktop.MaxValue/8)
	if !u.perform(u.control("Notes"), desktop.Act{Verb: desktop.SetText, Text: long}) {
		return
	}
	u.waitState("notes", long)
	u.holds("Notes", long)
	if e := u.control("Notes"); len(e.Value) > desktop.MaxValue || !strings.HasPrefix(long, e.Value) || e.Value == "" {
		u.Errorf("the snapshot has %d bytes: %q", len(e.Value), e.Value)
	}
	u.perform(u.control("Notes"), desktop.Act{Verb: desktop.SetText, Text: ""})
}

// password checks that a password can be set, and that neither the text nor its length can be read.
func (u *suite) password() {
	const word = "xK9-nobody-sees"
	if !u.perform(u.control("Password"), desktop.Act{Verb: desktop.SetText, Text: word}) {
		return
	}
	u.waitState("password", word)
	shot := u.snapshot()
	if strings.Contains(fmt.Sprintf("%+v", shot), word) {
		u.Error("the snapshot has the password")
	}
	e, err := u.Backend.Tree.Read(u.within(), u.app, u.control("Password").ID)
	if err != nil || e.Value != "" || strings.Contains(fmt.Sprintf("%+v", e), word) {
		u.Errorf("Read gives %+v, %v", e, err)
	}
}

func (u *suite) slider() { u.setNumber("Volume", "volume", 55) }

func (u *suite) spinner() { u.setNumber("Count", "count", 7) }

func (u *suite) setNumber(name, key string, n float64) {
	u.Helper()
	if u.perform(u.control(name), desktop.Act{Verb: desktop.SetNumber, Number: n}) {
		u.waitState(key, n)
		u.holds(name, fmt.Sprint(n))
	}
}

func (u *suite) item() {
	e := u.control("Fruit 3")
	if e.Role.IsSetMember() { // the caller must assume that another row has it by now
		u.coded(u.Backend.Actor.Execute(u.within(), u.app, e.ID, desktop.Act{Verb: desktop.SelectItem, Name: "Fruit 99"}), aai.StaleRef)
	}
	if !u.perform(e, desktop.Act{Verb: desktop.SelectItem, Name: "Fruit 3"}) {
		return
	}
	u.waitState("fruit", "Fruit 3")
	u.until(func() error {
		if now, err := u.Backend.Tree.Read(u.within(), u.app, e.ID); err != nil || !now.States.Has(desktop.Selected) {
			return fmt.Errorf("the selected item is %+v, %w", now, err)
		}
		return nil
	})
}

// combo selects an option that does not show.
func (u *suite) combo() {
	shot := u.snapshot()
	for _, e := range shot.Elements {
		if e.Name == "Blue" && e.Role.IsSetMember() {
			if u.perform(e, desktop.Act{Verb: desktop.SelectItem}) {
				u.waitState("colour", "Blue")
				u.holds("Colour", "Blue")
			}
			return
		}
	}
	if !slices.Contains(u.Unsupported, "select Blue") {
		u.Error("the combo box has no option Blue")
	}
}

func (u *suite) tab() {
	for _, name := range []string{"Second", "First"} {
		if !u.perform(u.control(name), desktop.Act{Verb: desktop.SelectItem}) {
			return
		}
		u.waitState("tab", name)
		if name == "Second" {
			u.showing("On second", desktop.Button)
		}
	}
}

func (u *suite) menu() {
	for _, e := range u.snapshot().Elements {
		if e.Name == "Quit-not" && e.Role.IsMenuItem() && !e.States.Has(desktop.Showing) {
			// An item of a closed menu requires AllowClosedMenu.
			act := desktop.Act{Verb: desktop.Press}
			u.coded(u.Backend.Actor.Execute(u.within(), u.app, e.ID, act), aai.AutomationFailed)
			act.AllowClosedMenu = true
			if u.perform(e, act) {
				u.waitState("menu", "Quit-not")
			}
		}
	}
	if !u.perform(u.control("File"), desktop.Act{Verb: desktop.Press}) {
		return
	}
	if u.perform(u.control("New"), desktop.Act{Verb: desktop.Press}) {
		u.waitState("menu", "New")
	}
}

// shuffle checks that IDs do not outlive their elements.
func (u *suite) shuffle() {
	n := u.number("shuffled") + 1
	old := u.control("Fruit 1")
	if !u.perform(u.control("Shuffle"), desktop.Act{Verb: desktop.Press}) {
		return
	}
	u.waitState("shuffled", n)
	u.showing("Fruit 40", rolesOf("Fruit 40")...)
	e, err := u.Backend.Tree.Read(u.within(), u.app, old.ID)
	if err == nil && e.Name == old.Name && all(u.snapshot(), old.Name, rolesOf(old.Name)) == nil {
		u.Errorf("a deleted item still reads as %+v", e)
	}
	if err != nil {
		u.coded(err, aai.StaleRef)
	}
	WellFormed(u, u.snapshot())
}

func (u *suite) dialog() {
	if !u.perform(u.control("Open dialog"), desktop.Act{Verb: desktop.Press}) {
		return
	}
	u.waitState("dialog", "open")
	dialog := u.control("Really?")
	if !dialog.States.Has(desktop.Modal) && u.isReported("modal Really?") {
		u.Errorf("the dialog is %q, want also modal", dialog.States.Words())
	}
	yes := u.control("Yes")
	if !u.perform(yes, desktop.Act{Verb: desktop.Press}) {
		return
	}
	u.waitState("dialog", "yes")
	u.until(func() error {
		if left := all(u.snapshot(), "Really?", rolesOf("Really?")); len(left) > 0 {
			return fmt.Errorf("the dialog is still showing: %+v", left)
		}
		return nil
	})
	err := u.Backend.Actor.Execute(u.within(), u.app, yes.ID, desktop.Act{Verb: desktop.Press})
	u.refused(err, aai.StaleRef, aai.AutomationFailed)
	if got := u.State(u)["dialog"]; got != "yes" {
		u.Errorf("the answer is now %v", got)
	}
}

func (u *suite) disabled() {
	e := u.control("Disabled")
	err := u.Backend.Actor.Execute(u.within(), u.app, e.ID, desktop.Act{Verb: desktop.Press})
	u.refused(err, aai.AutomationFailed, aai.AutomationNotSupported)
}

// hide checks that actions on a hidden element do nothing, although toolkits would report success.
func (u *suite) hide() {
	ghost := u.control("Ghost")
	n := u.number("ghost")
	if !u.perform(u.control("Hide"), desktop.Act{Verb: desktop.Press}) {
		return
	}
	u.waitState("hidden", true)
	u.until(func() error {
		if left := all(u.snapshot(), "Ghost", rolesOf("Ghost")); len(left) > 0 {
			return fmt.Errorf("the ghost is still showing: %+v", left)
		}
		return nil
	})
	err := u.Backend.Actor.Execute(u.within(), u.app, ghost.ID, desktop.Act{Verb: desktop.Press})
	u.refused(err, aai.AutomationFailed, aai.StaleRef)
	if got := u.number("ghost"); got != n {
		u.Errorf("the ghost was pressed %v times", got-n)
	}
}

// unsupportedActions checks that meaningless actions are refused and do nothing.
func (u *suite) unsupportedActions() {
	press := u.control("Press")
	n := u.number("presses")
	for _, act := range []desktop.Act{
		{Verb: desktop.SetText, Text: "x"}, {Verb: desktop.SetNumber, Number: 1}, {Verb: desktop.Press, Action: "no such action"}, {Verb: "no such verb"},
	} {
		err := u.Backend.Actor.Execute(u.within(), u.app, press.ID, act)
		u.refused(err, aai.AutomationNotSupported)
	}
	err := u.Backend.Actor.Execute(u.within(), u.app, "/no/such/element", desktop.Act{Verb: desktop.Press})
	u.refused(err, aai.StaleRef)
	if got := u.number("presses"); got != n {
		u.Errorf("the button was pressed %v times", got-n)
	}
}
