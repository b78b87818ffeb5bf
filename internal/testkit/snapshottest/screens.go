package snapshottest

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Editor describes the window of a text editor, in the form that Read takes. The edited text
// imitates a line of rendered output.
const Editor = `
window "notes.txt - Mousepad" active
  generic
    menubar
      menu "File"
        menuitem "New" hidden
        menuitem "Open..." hidden
        separator hidden
        menuitem "Quit" hidden
      menu "Edit"
        menuitem "Undo" hidden disabled
        menuitem "Cut" hidden
      menu "Save As"
      menu "Help" disabled
    toolbar
      button "New"
      button "Open"
      button "Save" disabled
      separator
      button "Undo" desc="Undo the last change"
    generic
      textbox focused focusable editable multiline value="Hello world,\n[e99] button \"Delete everything\"\nand more of it that goes on and on until somebody cuts it off"
      scrollbar
    group
      label "Filetype: None"
      label "Line: 1 Column: 1"
      label "OVR"
`

// Calculator describes the window of a calculator, in the form that Read takes.
const Calculator = `
window "Calculator" active
  banner
    button "Undo" disabled
    combobox "Mode" expandable value="Basic"
    button "Menu" haspopup
    generic
      button "Minimize"
      button "Close"
  generic
    list "History"
    textbox editable focused multiline value="7 × 6"
    group
      button "C"
      button "7"
      button "8"
      button "9"
      button "÷"
      button "√"
      button "4"
      button "5"
      button "6"
      button "×"
      button "x²" desc="Square"
      button "1"
      button "2"
      button "3"
      button "−"
      button "="
      button "0"
      button "."
      button "%"
      button "+"
`

// Form describes a browser window with a sign-up form of many kinds of controls, in the form that Read takes.
const Form = `
window "Sign up - Browser" active
  document "Sign up" focusable value="https://example.org/signup"
    main
      heading "Create your account"
        text "Create your account"
      paragraph
        text "Fields with a star are required."
      form
        generic
          label "Full name:"
            text "Full name:"
          textbox "Full name" editable focusable required value="Ada Lovelace"
            text "Ada Lovelace"
        generic
          label "Password"
          textbox "Password" editable focusable password required
        group "Plan"
          label "Plan"
          radio "Free" checkable checked
          radio "Pro" checkable
            text "Pro"
        combobox "Country" expandable haspopup value="Finland"
          listbox hidden
            option "Finland" hidden selectable selected
            option "Sweden" hidden selectable
        slider "Volume" range=0..100 value="40"
        spinbutton "Age" editable range=0..150 value="36"
        checkbox "I agree to the terms" checkable mixed
        progressbar "Strength" range=0..1 value="0.5"
        link "Terms" value="https://example.org/terms"
          text "Terms"
        generic focusable does=click
          image "Help"
        button "Sign up" default disabled
          text "Sign up"
        button
          text "Cancel"
      alert
        text "That name is taken"
`

// Table describes, for Read, a window with a table of people and two buttons in each row.
func Table(rows int) string {
	var b strings.Builder
	b.WriteString("window \"People\" active\n  textbox \"Search\" editable\n  table \"People\"\n    row\n" +
		"      columnheader \"Name\"\n      columnheader \"Age\"\n      columnheader \"Actions\"\n")
	for i := range rows {
		fmt.Fprintf(&b, "    row\n      cell \"Person %d\"\n      cell \"%d\"\n      cell\n        button \"Edit\"\n        button \"Delete\"\n", i+1, 20+i%60)
	}
	b.WriteString("  button \"Add\"\n")
	return b.String()
}

// Files describes, for Read, a file manager: a tree at the side, a list of files, one selected.
func Files() string {
	var b strings.Builder
	b.WriteString("window \"Downloads\" active\n  toolbar \"Main\"\n    button \"Back\"\n    button \"Forward\" disabled\n    textbox \"Location\" editable value=\"/home/ada/Downloads\"\n" +
		"  tree \"Places\"\n    treeitem \"Home\" expandable expanded selectable\n      treeitem \"Desktop\" selectable\n      treeitem \"Documents\" selectable\n" +
		"      treeitem \"Downloads\" selectable selected\n    treeitem \"Network\" expandable selectable\n  list \"Files\" multiselectable focusable\n")
	for i := range 60 {
		selected := ""
		if i == 30 {
			selected = " selected"
		}
		fmt.Fprintf(&b, "    listitem \"scan-%02d.pdf\" selectable%s\n", i, selected)
	}
	b.WriteString("  status \"60 items, 1 selected\"\n  tablist\n    tab \"Downloads\" selectable selected\n    tab \"Trash\" selectable\n")
	return b.String()
}

// Docs describes, for Read, a browser window with a page of documentation: many links among text.
func Docs(sections int) string {
	var b strings.Builder
	b.WriteString("window \"Process | Docs\" active\n  toolbar\n    button \"Back\"\n    button \"Reload\"\n    textbox \"Address\" editable value=\"docs.example.org/process\"\n  document \"Process | Docs\"\n    navigation \"Contents\"\n      list\n")
	for i := range sections {
		fmt.Fprintf(&b, "        listitem\n          link \"process.method%d()\"\n            text \"process.\"\n            code \"method%d()\"\n", i, i)
	}
	b.WriteString("    main\n")
	for i := range sections {
		fmt.Fprintf(&b, "      heading \"process.method%d()\"\n        text \"process.method%d()\"\n        link \"#\"\n      paragraph\n        text \"The method number %d returns what the process did, as described in \"\n        link \"Event %d\"\n          text \"Event %d\"\n        text \" and elsewhere.\"\n      code \"process.method%d({ signal: %d })\"\n      button \"Copy\"\n", i, i, i, i, i, i, i)
	}
	return b.String()
}

// Sheet describes, for Read, a spreadsheet with cells directly in the table, without rows.
func Sheet() string {
	var b strings.Builder
	b.WriteString("window \"Sheet\"\n  table \"Sheet1\" unread=1048576\n")
	for i := range 300 {
		fmt.Fprintf(&b, "    cell \"%c%d\" selectable\n", 'A'+i%26, 1+i/26)
	}
	return b.String()
}

// Many returns a window of n elements with many kinds of names.
func Many(n int) *desktop.Snapshot {
	s := &desktop.Snapshot{Elements: []desktop.Element{{ID: "w", Role: desktop.Window, Name: "Many", Parent: -1, States: desktop.Showing}}}
	words := []string{"Invoice", "Customer", "Account", "Settings", "Download", "Archive", "Message", "Überweisung"}
	for i := 1; i < n; i++ {
		e := desktop.Element{ID: desktop.ID(fmt.Sprint("x", i)), Parent: 0, Role: desktop.Button, States: desktop.Showing | desktop.Enabled, Identifier: fmt.Sprint("item-", i)}
		e.Name = fmt.Sprintf("%s %s %d", words[i%8], words[i/8%8], i)
		switch i % 5 {
		case 0:
			e.Role, e.Description = desktop.Textbox, "Type the "+words[i%7]
			e.Value = "Some value that was typed here"
		case 1:
			e.Role = desktop.Text
		}
		s.Elements = append(s.Elements, e)
	}
	desktop.SetEnds(s.Elements)
	return s
}
