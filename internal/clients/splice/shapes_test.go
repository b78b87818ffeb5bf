package splice_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// A shapeWriter writes random shapes.
type shapeWriter struct {
	*rapid.T
	unit     string
	comments bool
	n        int // for unique names
}

func (p *shapeWriter) sample(of ...string) string { return rapid.SampledFrom(of).Draw(p.T, "one") }

func (p *shapeWriter) maybe() bool { return rapid.Bool().Draw(p.T, "maybe") }

func (p *shapeWriter) number(most int) int { return rapid.IntRange(0, most).Draw(p.T, "few") }

func (p *shapeWriter) name() string {
	p.n++
	return p.sample("server", "numStartups", "tips-history", "b2", "größe", "projects") + fmt.Sprint(p.n)
}

// finished returns a text with one kind of line ends, optionally with a byte order mark.
func (p *shapeWriter) finished(text string) string {
	if p.number(3) == 3 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if p.number(3) == 3 {
		text = strings.TrimRight(text, "\r\n")
	}
	if p.number(7) == 7 {
		text = "\ufeff" + text
	}
	return text
}

func jsonShape(t *rapid.T) string {
	p := &shapeWriter{T: t, unit: rapid.SampledFrom([]string{"  ", "    ", "\t", " ", ""}).Draw(t, "unit"), comments: rapid.Bool().Draw(t, "comments")}
	switch p.number(9) {
	case 0:
		return p.finished(p.sample("", "\n", "{}", "{ }", "{\n}", "{\n}\n", "{}\n", " {\n\n} "))
	case 1: // minified
		var members []string
		for range p.number(3) {
			members = append(members, fmt.Sprintf("%q:%s", p.name(), p.sample("1", `"a//b"`, "{}", `{"x":[1,2]}`, "null")))
		}
		if p.maybe() {
			members = append(members, `"mcpServers":`+p.sample("{}", `{"b":{"command":"npx"}}`, `{"aai":{"command":"old"}}`))
		}
		return "{" + strings.Join(members, ",") + "}" + p.sample("", "\n")
	}
	return p.finished(p.comment("") + p.object("", 2, true) + p.sample("", "\n", "\n\n", "\n// end\n"))
}

func (p *shapeWriter) comment(indent string) string {
	if !p.comments || p.maybe() {
		return ""
	}
	return indent + p.sample("// note: \"x\": {", "/* a { b */", "// mcpServers", "/* two\n   lines */") + "\n"
}

// object is an object with members on separate lines or not.
func (p *shapeWriter) object(indent string, depth int, root bool) string {
	var members []string
	for range p.number(4) {
		members = append(members, fmt.Sprintf("%q: %s", p.name(), p.value(indent+p.unit, depth)))
	}
	if root && p.maybe() {
		at := p.number(len(members))
		holder := `"mcpServers": ` + p.servers(indent+p.unit)
		members = append(members[:at], append([]string{holder}, members[at:]...)...)
	}
	return p.braces(indent, members)
}

// braces is an object within braces.
func (p *shapeWriter) braces(indent string, members []string) string {
	if len(members) == 0 {
		return p.sample("{}", "{ }", "{\n"+indent+"}")
	}
	if p.number(4) == 0 {
		return "{" + strings.Join(members, p.sample(", ", ",", " , ")) + p.sample("", " ") + "}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for i, m := range members {
		b.WriteString(p.comment(indent + p.unit))
		b.WriteString(indent + p.unit + m)
		if last := i == len(members)-1; !last || p.comments && p.maybe() {
			b.WriteString(",")
		}
		if p.comments && p.number(3) == 0 {
			b.WriteString(" // " + p.sample("why", "}", "\"a\": 1,"))
		}
		b.WriteString(p.sample("\n", "\n", "\n\n"))
	}
	return b.String() + p.comment(indent+p.unit) + indent + "}"
}

func (p *shapeWriter) value(indent string, depth int) string {
	if depth > 0 && p.number(2) == 0 {
		return p.object(indent, depth-1, false)
	}
	return p.sample("1", "-1.5e3", "12345678901234567890", "true", "null", `"plain"`, `"a \"b\" \\ // no comment"`, `"\u00e9 é 漢"`, `["a", {"b": 2}, []]`, `"}{"`, `""`)
}

// servers is a container, with or without our entry.
func (p *shapeWriter) servers(indent string) string {
	var members []string
	for range p.number(3) {
		members = append(members, fmt.Sprintf("%q: %s", p.name(), p.sample(`{"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "sk-1"}}`, `{"url": "https://a.example/mcp"}`, "{\n"+indent+p.unit+p.unit+"\"command\": \"x\"\n"+indent+p.unit+"}")))
	}
	if p.number(3) == 0 {
		at := p.number(len(members))
		old := `"aai": ` + p.sample(`{"command": "old"}`, "{\n"+indent+p.unit+p.unit+"\"command\": \"/usr/bin/aai\"\n"+indent+p.unit+"}", `{}`)
		members = append(members[:at], append([]string{old}, members[at:]...)...)
	}
	return p.braces(indent, members)
}

func tomlShape(t *rapid.T) string {
	p := &shapeWriter{T: t, comments: true}
	var b strings.Builder
	note := func() {
		if p.number(2) == 0 {
			b.WriteString(p.sample("# [mcp_servers.aai]\n", "\n", "# key = sk-1\n\n", "\n\n"))
		}
	}
	pair := func() {
		b.WriteString(p.sample(p.name(), fmt.Sprintf("%q", "quoted key "+p.name()), p.name()+".dotted") + p.sample(" = ", "=", "  =  ") + p.sample("1", `"x # no"`, "'C:\\x'", "true", "1979-05-27T07:32:00Z", "[\n  1, # one\n  2,\n]", "\"\"\"\n[mcp_servers.no]\na = 1\n# no comment\n\"\"\"", "{ a = 1, b = \"c\" }", "-0.5", "0xff") + p.sample("", " # end") + "\n")
	}
	note()
	for range p.number(3) {
		pair()
		note()
	}
	inline := p.number(7) == 0
	if inline {
		b.WriteString("mcp_servers = " + p.sample("{}", "{ b = { command = \"x\" } }", "{b={command=\"x\"},c={command=\"y\"}}", "{ aai = { command = \"old\" }, b = { command = \"y\" } }", "{ b = { command = \"y\" }, aai = { command = \"old\" } }") + "\n")
	}
	tables := p.number(4)
	ours := p.number(2*tables + 2)
	for i := range tables {
		note()
		switch {
		case !inline && i == ours:
			b.WriteString("[mcp_servers.aai]\n" + p.sample("command = \"old\"\n", "", "# mine\ncommand = \"old\"\nargs = [\n  \"a\", # b\n]\n") + p.sample("", "[mcp_servers.aai.env]\nA = \"b\"\n", "env.A = \"b\"\n"))
			continue
		case !inline && p.maybe():
			b.WriteString(p.sample("", "  ") + "[mcp_servers." + p.sample(p.name()+"]", "\"with.dot"+fmt.Sprint(i)+"\"]", "b"+fmt.Sprint(i)+" ] # note") + "\n")
		default:
			b.WriteString(p.sample("["+p.name()+"]", "[[list"+fmt.Sprint(p.number(1))+"]]", "[a"+fmt.Sprint(i)+".b.c]") + "\n")
		}
		for range p.number(3) {
			pair()
			note()
		}
	}
	return strings.NewReplacer("größe", "groesse").Replace(p.finished(b.String()))
}

// yamlShape is one of the clients' two forms: a map of entries or a list.
func yamlShape(t *rapid.T, place splice.Place) string {
	p := &shapeWriter{T: t, unit: rapid.SampledFrom([]string{"  ", "    ", "   "}).Draw(t, "unit")}
	var b strings.Builder
	note := func(indent string) {
		if p.number(2) == 0 {
			b.WriteString(p.sample(indent+"# note: a\n", "\n", "# at the edge\n", indent+"# "+place.Path[0]+":\n", "\n\n"))
		}
	}
	pair := func() {
		b.WriteString(p.name() + ": " + p.sample("1", "plain words here", "\"quoted: # no\"", "'it''s'", "true", "|\n"+p.unit+"# heading\n"+p.unit+"text", ">-\n"+p.unit+"folded\n\n"+p.unit+"text", "[a, b]", "{a: b, c: [d]}", "\n"+p.unit+"deep:\n"+p.unit+p.unit+"er: x", "\n"+p.unit+"- a\n"+p.unit+"- b: c\n"+p.unit+"  d: e", "https://x.example/#a", "2026-01-01") + p.sample("\n", "\n", "\n\n"))
	}
	if p.number(5) == 0 {
		b.WriteString(p.sample("---\n", "# first\n---\n"))
	}
	note("")
	for range p.number(3) {
		pair()
		note("")
	}
	if p.number(3) > 0 {
		p.holder(&b, place, note)
	}
	for range p.number(3) {
		note("")
		pair()
	}
	return p.finished(b.String())
}

// holder is the container of the entries, with or without ours.
func (p *shapeWriter) holder(b *strings.Builder, place splice.Place, note func(string)) {
	b.WriteString(place.Path[0] + ":")
	switch p.number(6) {
	case 0:
		b.WriteString(p.sample("", " # none") + "\n")
		return
	case 1:
		empty := p.sample(" {}", " { }")
		if place.List {
			empty = p.sample(" []", " [ ]")
		}
		b.WriteString(empty + p.sample("", " # none") + "\n")
		return
	case 2:
		if place.List {
			b.WriteString(p.sample(" [{name: a, command: b}]", " [{name: a}, {name: aai, command: old}]", " [ {name: aai}, {name: c} ]") + "\n")
		} else {
			b.WriteString(p.sample(" {a: {b: c}}", " {a: {b: c}, aai: {command: old}}", " { aai: {command: old}, d: {e: f} }") + "\n")
		}
		return
	}
	b.WriteString("\n")
	indent := p.unit
	if place.List {
		indent = p.sample("", p.unit)
	}
	items := 1 + p.number(2)
	ours := p.number(2 * items)
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
		b.WriteString(inner + "command: " + p.sample("npx", "\"a b\"", "|\n"+inner+"  # x\n"+inner+"  y") + "\n")
		b.WriteString(p.sample("", inner+"args: [a, \"b\"]\n", inner+"args:\n"+inner+"  - a\n"+inner+"  # c\n"+inner+"  - b\n", inner+"env: {T: sk-1}\n", inner+"# last of it\n"))
	}
	note(indent)
}
