package splice_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"aai/internal/install/splice"
)

// A pen writes shapes at random.
type pen struct {
	*rapid.T
	unit     string
	comments bool
	n        int // for names that are there once
}

func (p *pen) one(of ...string) string { return rapid.SampledFrom(of).Draw(p.T, "one") }

func (p *pen) maybe() bool { return rapid.Bool().Draw(p.T, "maybe") }

func (p *pen) few(most int) int { return rapid.IntRange(0, most).Draw(p.T, "few") }

func (p *pen) name() string {
	p.n++
	return p.one("server", "numStartups", "tips-history", "b2", "größe", "projects") + fmt.Sprint(p.n)
}

// finished is a text with one kind of line ends, and maybe a byte order mark.
func (p *pen) finished(text string) string {
	if p.few(3) == 3 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if p.few(3) == 3 {
		text = strings.TrimRight(text, "\r\n")
	}
	if p.few(7) == 7 {
		text = "\ufeff" + text
	}
	return text
}

func jsonShape(t *rapid.T) string {
	p := &pen{T: t, unit: rapid.SampledFrom([]string{"  ", "    ", "\t", " ", ""}).Draw(t, "unit"), comments: rapid.Bool().Draw(t, "comments")}
	switch p.few(9) {
	case 0:
		return p.finished(p.one("", "\n", "{}", "{ }", "{\n}", "{\n}\n", "{}\n", " {\n\n} "))
	case 1: // minified
		var members []string
		for range p.few(3) {
			members = append(members, fmt.Sprintf("%q:%s", p.name(), p.one("1", `"a//b"`, "{}", `{"x":[1,2]}`, "null")))
		}
		if p.maybe() {
			members = append(members, `"mcpServers":`+p.one("{}", `{"b":{"command":"npx"}}`, `{"aai":{"command":"old"}}`))
		}
		return "{" + strings.Join(members, ",") + "}" + p.one("", "\n")
	}
	return p.finished(p.comment("") + p.object("", 2, true) + p.one("", "\n", "\n\n", "\n// end\n"))
}

func (p *pen) comment(indent string) string {
	if !p.comments || p.maybe() {
		return ""
	}
	return indent + p.one("// note: \"x\": {", "/* a { b */", "// mcpServers", "/* two\n   lines */") + "\n"
}

// object is one with members that stand in lines or not.
func (p *pen) object(indent string, depth int, root bool) string {
	var members []string
	for range p.few(4) {
		members = append(members, fmt.Sprintf("%q: %s", p.name(), p.value(indent+p.unit, depth)))
	}
	if root && p.maybe() {
		at := p.few(len(members))
		holder := `"mcpServers": ` + p.servers(indent+p.unit)
		members = append(members[:at], append([]string{holder}, members[at:]...)...)
	}
	return p.braces(indent, members)
}

// braces are members within braces.
func (p *pen) braces(indent string, members []string) string {
	if len(members) == 0 {
		return p.one("{}", "{ }", "{\n"+indent+"}")
	}
	if p.few(4) == 0 {
		return "{" + strings.Join(members, p.one(", ", ",", " , ")) + p.one("", " ") + "}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for i, m := range members {
		b.WriteString(p.comment(indent + p.unit))
		b.WriteString(indent + p.unit + m)
		if last := i == len(members)-1; !last || p.comments && p.maybe() {
			b.WriteString(",")
		}
		if p.comments && p.few(3) == 0 {
			b.WriteString(" // " + p.one("why", "}", "\"a\": 1,"))
		}
		b.WriteString(p.one("\n", "\n", "\n\n"))
	}
	return b.String() + p.comment(indent+p.unit) + indent + "}"
}

func (p *pen) value(indent string, depth int) string {
	if depth > 0 && p.few(2) == 0 {
		return p.object(indent, depth-1, false)
	}
	return p.one("1", "-1.5e3", "12345678901234567890", "true", "null", `"plain"`, `"a \"b\" \\ // no comment"`, `"\u00e9 é 漢"`, `["a", {"b": 2}, []]`, `"}{"`, `""`)
}

// servers is a holder, with our entry in it or not.
func (p *pen) servers(indent string) string {
	var members []string
	for range p.few(3) {
		members = append(members, fmt.Sprintf("%q: %s", p.name(), p.one(`{"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "sk-1"}}`, `{"url": "https://a.example/mcp"}`, "{\n"+indent+p.unit+p.unit+"\"command\": \"x\"\n"+indent+p.unit+"}")))
	}
	if p.few(3) == 0 {
		at := p.few(len(members))
		old := `"aai": ` + p.one(`{"command": "old"}`, "{\n"+indent+p.unit+p.unit+"\"command\": \"/usr/bin/aai\"\n"+indent+p.unit+"}", `{}`)
		members = append(members[:at], append([]string{old}, members[at:]...)...)
	}
	return p.braces(indent, members)
}

func tomlShape(t *rapid.T) string {
	p := &pen{T: t, comments: true}
	var b strings.Builder
	note := func() {
		if p.few(2) == 0 {
			b.WriteString(p.one("# [mcp_servers.aai]\n", "\n", "# key = sk-1\n\n", "\n\n"))
		}
	}
	pair := func() {
		b.WriteString(p.one(p.name(), fmt.Sprintf("%q", "quoted key "+p.name()), p.name()+".dotted") + p.one(" = ", "=", "  =  ") + p.one("1", `"x # no"`, "'C:\\x'", "true", "1979-05-27T07:32:00Z", "[\n  1, # one\n  2,\n]", "\"\"\"\n[mcp_servers.no]\na = 1\n# no comment\n\"\"\"", "{ a = 1, b = \"c\" }", "-0.5", "0xff") + p.one("", " # end") + "\n")
	}
	note()
	for range p.few(3) {
		pair()
		note()
	}
	inline := p.few(7) == 0
	if inline {
		b.WriteString("mcp_servers = " + p.one("{}", "{ b = { command = \"x\" } }", "{b={command=\"x\"},c={command=\"y\"}}", "{ aai = { command = \"old\" }, b = { command = \"y\" } }", "{ b = { command = \"y\" }, aai = { command = \"old\" } }") + "\n")
	}
	tables := p.few(4)
	ours := p.few(2*tables + 2)
	for i := range tables {
		note()
		switch {
		case !inline && i == ours:
			b.WriteString("[mcp_servers.aai]\n" + p.one("command = \"old\"\n", "", "# mine\ncommand = \"old\"\nargs = [\n  \"a\", # b\n]\n") + p.one("", "[mcp_servers.aai.env]\nA = \"b\"\n", "env.A = \"b\"\n"))
			continue
		case !inline && p.maybe():
			b.WriteString(p.one("", "  ") + "[mcp_servers." + p.one(p.name()+"]", "\"with.dot"+fmt.Sprint(i)+"\"]", "b"+fmt.Sprint(i)+" ] # note") + "\n")
		default:
			b.WriteString(p.one("["+p.name()+"]", "[[list"+fmt.Sprint(p.few(1))+"]]", "[a"+fmt.Sprint(i)+".b.c]") + "\n")
		}
		for range p.few(3) {
			pair()
			note()
		}
	}
	return strings.NewReplacer("größe", "groesse").Replace(p.finished(b.String()))
}

// yamlShape is one of the two that clients have: a map of entries or a list of them.
func yamlShape(t *rapid.T, place splice.Place) string {
	p := &pen{T: t, unit: rapid.SampledFrom([]string{"  ", "    ", "   "}).Draw(t, "unit")}
	var b strings.Builder
	note := func(indent string) {
		if p.few(2) == 0 {
			b.WriteString(p.one(indent+"# note: a\n", "\n", "# at the edge\n", indent+"# "+place.Path[0]+":\n", "\n\n"))
		}
	}
	pair := func() {
		b.WriteString(p.name() + ": " + p.one("1", "plain words here", "\"quoted: # no\"", "'it''s'", "true", "|\n"+p.unit+"# heading\n"+p.unit+"text", ">-\n"+p.unit+"folded\n\n"+p.unit+"text", "[a, b]", "{a: b, c: [d]}", "\n"+p.unit+"deep:\n"+p.unit+p.unit+"er: x", "\n"+p.unit+"- a\n"+p.unit+"- b: c\n"+p.unit+"  d: e", "https://x.example/#a", "2026-01-01") + p.one("\n", "\n", "\n\n"))
	}
	if p.few(5) == 0 {
		b.WriteString(p.one("---\n", "# first\n---\n"))
	}
	note("")
	for range p.few(3) {
		pair()
		note("")
	}
	if p.few(3) > 0 {
		p.holder(&b, place, note)
	}
	for range p.few(3) {
		note("")
		pair()
	}
	return p.finished(b.String())
}

// holder is what holds the entries, with ours in it or not.
func (p *pen) holder(b *strings.Builder, place splice.Place, note func(string)) {
	b.WriteString(place.Path[0] + ":")
	switch p.few(6) {
	case 0:
		b.WriteString(p.one("", " # none") + "\n")
		return
	case 1:
		empty := p.one(" {}", " { }")
		if place.List {
			empty = p.one(" []", " [ ]")
		}
		b.WriteString(empty + p.one("", " # none") + "\n")
		return
	case 2:
		if place.List {
			b.WriteString(p.one(" [{name: a, command: b}]", " [{name: a}, {name: aai, command: old}]", " [ {name: aai}, {name: c} ]") + "\n")
		} else {
			b.WriteString(p.one(" {a: {b: c}}", " {a: {b: c}, aai: {command: old}}", " { aai: {command: old}, d: {e: f} }") + "\n")
		}
		return
	}
	b.WriteString("\n")
	indent := p.unit
	if place.List {
		indent = p.one("", p.unit)
	}
	items := 1 + p.few(2)
	ours := p.few(2 * items)
	for i := range items {
		note(indent)
		name := p.name()
		if i == ours {
			name = "aai"
		}
		first := indent + name + ":\n"
		if place.List {
			first = indent + "- name: " + name + "\n"
		}
		b.WriteString(first)
		inner := indent + p.unit
		if place.List {
			inner = indent + "  "
		}
		b.WriteString(inner + "command: " + p.one("npx", "\"a b\"", "|\n"+inner+"  # x\n"+inner+"  y") + "\n")
		b.WriteString(p.one("", inner+"args: [a, \"b\"]\n", inner+"args:\n"+inner+"  - a\n"+inner+"  # c\n"+inner+"  - b\n", inner+"env: {T: sk-1}\n", inner+"# last of it\n"))
	}
	note(indent)
}
