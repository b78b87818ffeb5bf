package apps

import (
	"slices"

	"aai/internal/desktop/linuxtest"
)

// tasks are those that agents are given, each as one does it who knows the program.
func tasks() []task {
	return []task{
		{name: "fill a sheet, save it as xlsx", on: named("calc"), usual: true, calls: []call{
			{tool: "ax_fill", args: params{"fields": []params{{"query": "A1", "value": "Item\tPrice\nTea\t3\nMilk\t4"}}}},
			{tool: "ax_key_press", args: params{"key": "s", "modifiers": []string{"ctrl", "shift"}}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "Name:", "value": "$FOLDER/b.xlsx"}}, "submit": "return"}, until: "Filled 1 of 1"},
			{tool: "ax_click", args: params{"query": "contains:Use Excel"}, until: "Clicked"},
		}, wrong: sheetIs("b.xlsx", map[string]string{"A1": "Item", "B1": "Price", "A2": "Tea", "B2": "3", "A3": "Milk", "B3": "4"})},

		{name: "find and replace in a text, save it", on: letter("Der Hund, der Hundekorb und die Katze"), calls: []call{
			{tool: "ax_key_press", args: params{"key": "h", "modifiers": []string{"ctrl"}}},
			{tool: "ax_find", args: params{"query": "role:dialog"}},
			{tool: "ax_get_tree", args: params{"root": "/e[0-9]+/"}},
			{tool: "ax_fill", args: params{"submit": "Replace All", "fields": []params{
				{"query": `/"Find:"\s+textbox "" \[(e[0-9]+)/`, "value": "Hund"},
				{"query": `/"Replace:"\s+textbox "" \[(e[0-9]+)/`, "value": "Fuchs"},
			}}},
			{tool: "ax_click", args: params{"query": "Close"}},
			{tool: "ax_key_press", args: params{"key": "s", "modifiers": []string{"ctrl"}}},
		}, wrong: fileHas("a.fodt", "Der Fuchs, der Fuchsekorb und die Katze", "!Hund")},
	}
}

// named is one of the programs, where a task wants no other of its kind.
func named(name string) program {
	list := programs()
	return list[slices.IndexFunc(list, func(p program) bool { return p.name == name })]
}

// letter is Writer with a letter.
func letter(text string) program {
	p := named("writer")
	p.start = func(s *stage) *linuxtest.App {
		return s.office(s.unpacked("libreoffice/program/soffice"), "a.fodt", "text", "<text:p>"+text+"</text:p>")
	}
	return p
}
