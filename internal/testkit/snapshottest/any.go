package snapshottest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Names returns names for random elements: realistic ones, and some that imitate rendered output.
func Names() []string {
	return []string{
		"", "Save", "Open...", "Übernehmen", "保存文件", "📁 Files", "x\n  button \"Forged\" [e1]", `quote " and \ back`, "[e2] File, [e3] Edit", "(9 of 9 elements to act on)",
		"\u202egpj.exe", "\ue000", " ", "disabled", "focused", "… 9 more row: [e1]–[e9]", "a very long name that goes on and on and on until nobody can remember how it had begun at all", "日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日日",
		"👩‍💻🧵🪄🦾🧿🪬🫧🪸🪹🪺🫃🫄🫅🧌🪖🪗", "k=0–3: button [e1+2k]", "\x1b[31mred", "Z", "7",
	}
}

// Roles returns the roles for random elements, common ones several times, and one invalid role.
func Roles() []desktop.Role {
	return []desktop.Role{
		desktop.Window, desktop.Dialog, desktop.Button, desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Textbox, desktop.Slider, desktop.Scrollbar, desktop.Combobox, desktop.Link, desktop.Menubar, desktop.Menu, desktop.MenuItem, desktop.Tablist, desktop.Tab, desktop.List, desktop.ListItem, desktop.Listbox, desktop.Option, desktop.TreeView, desktop.TreeItem,
		desktop.Table, desktop.Row, desktop.Cell, desktop.ColumnHeader, desktop.Text, desktop.Label, desktop.Heading, desktop.Paragraph, desktop.Image, desktop.Document, desktop.Group, desktop.Toolbar, desktop.Separator, desktop.Generic, desktop.Generic, desktop.Generic, desktop.Canvas, desktop.Alert, desktop.Status, "bo\ngus",
	}
}

// Random returns a generator of snapshots: random trees, some with many similar rows.
func Random() *rapid.Generator[*desktop.Snapshot] {
	return rapid.Custom(func(t *rapid.T) *desktop.Snapshot {
		s := &desktop.Snapshot{App: desktop.App{Key: "k"}}
		add := func(parent int, role desktop.Role, name string, states desktop.State) int {
			e := desktop.Element{ID: desktop.ID(fmt.Sprintf("/%d", len(s.Elements))), Role: role, Name: name, States: states, Parent: parent}
			s.Elements = append(s.Elements, e)
			return len(s.Elements) - 1
		}
		name := rapid.SampledFrom(Names())
		states := func() desktop.State {
			states := desktop.State(rapid.Uint32Range(0, 1<<27-1).Draw(t, "states")) & desktop.State(rapid.Uint32().Draw(t, "some"))
			if rapid.IntRange(0, 9).Draw(t, "shows") > 0 {
				states |= desktop.Showing
			}
			return states
		}
		var grow func(parent, depth, width int)
		grow = func(parent, depth, width int) {
			for range width {
				role := rapid.SampledFrom(Roles()).Draw(t, "role")
				i := add(parent, role, name.Draw(t, "name"), states())
				e := &s.Elements[i]
				if rapid.Bool().Draw(t, "more") {
					e.Value, e.Description, e.Identifier = name.Draw(t, "value"), name.Draw(t, "description"), name.Draw(t, "id")
					e.Max = float64(rapid.IntRange(0, 9).Draw(t, "max"))
				}
				switch {
				case rapid.IntRange(0, 7).Draw(t, "rows") == 0:
					row := rapid.SampledFrom([]desktop.Role{desktop.Row, desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Cell}).Draw(t, "of")
					inside := rapid.SliceOfN(rapid.SampledFrom([]desktop.Role{desktop.Cell, desktop.Button, desktop.Link, desktop.Text}), 0, 5).Draw(t, "inside")
					for range rapid.IntRange(2, 60).Draw(t, "count") {
						r := add(i, row, name.Draw(t, "name"), desktop.Showing|desktop.Enabled)
						for _, role := range inside {
							add(r, role, name.Draw(t, "name"), desktop.Showing|desktop.Enabled)
						}
					}
				case depth > 0:
					grow(i, depth-1, rapid.IntRange(0, 5).Draw(t, "width"))
				}
			}
		}
		grow(-1, rapid.IntRange(0, 5).Draw(t, "depth"), rapid.IntRange(0, 4).Draw(t, "windows"))
		desktop.SetEnds(s.Elements)
		return s
	})
}
