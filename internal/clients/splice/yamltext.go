package splice

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// yamlText implements YAML with one document.
type yamlText struct{}

func (yamlText) read(text []byte) (*tree, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return &tree{kind: mapKind}, err
	}
	return yamlTree(root), nil
}

// parseYAML returns the mapping of a text, or nil if the text has no data.
func parseYAML(text []byte) (*yaml.Node, error) {
	var all []yaml.Node
	deep := loaderlimits.New(loaderlimits.DepthValue(maxNesting))
	if err := yaml.Load(text, &all, yaml.WithAllDocuments(), yaml.WithPlugin(deep)); err != nil {
		return nil, yamlFault(err)
	}
	if len(all) > 1 {
		return nil, &Fault{all[1].Line, max(all[1].Column, 1), "a second document begins; expected one"}
	}
	if len(all) == 0 {
		return nil, nil
	}
	root := &all[0]
	if root.Kind == yaml.DocumentNode {
		if len(root.Content) == 0 {
			return nil, nil
		}
		root = root.Content[0]
	}
	if isNothing(root) {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Fault{root.Line, root.Column, "expected keys and their values"}
	}
	return root, nil
}

func isNothing(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func yamlTree(n *yaml.Node) *tree {
	t := &tree{kind: otherKind, scalar: n.ShortTag() + " " + n.Value}
	switch n.Kind {
	case yaml.MappingNode:
		t = &tree{kind: mapKind}
		for i := 0; i+1 < len(n.Content); i += 2 {
			t.names, t.items = append(t.names, n.Content[i].Value), append(t.items, yamlTree(n.Content[i+1]))
		}
	case yaml.SequenceNode:
		t = &tree{kind: listKind}
		for _, item := range n.Content {
			t.items = append(t.items, yamlTree(item))
		}
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!str":
			t = &tree{kind: stringKind, scalar: n.Value}
		case "!!null":
			t = &tree{kind: nullKind}
		case "!!bool":
			t = &tree{kind: boolKind, scalar: strings.ToLower(n.Value)}
		case "!!int":
			t = &tree{kind: numberKind, scalar: n.Value}
		}
	case yaml.AliasNode: // its data is at the anchor
		t.scalar = "*" + n.Value
	case yaml.DocumentNode, yaml.StreamNode:
	}
	return t
}

// A yamlHolder is the container of the entries.
type yamlHolder struct {
	text  []byte
	key   *yaml.Node // nil if absent
	value *yaml.Node
	next  *yaml.Node // the next key, or nil
	root  *yaml.Node // nil if the text has no data
}

// yamlHolderOf finds the container at the path, which has one key.
func yamlHolderOf(text []byte, p Place) (*yamlHolder, error) {
	root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	h := &yamlHolder{text: text, root: root}
	if root == nil {
		return h, nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != p.Path[0] {
			continue
		}
		if key := root.Content[i]; h.key != nil {
			return nil, &Fault{key.Line, key.Column, fmt.Sprintf("%q is there for the second time; expected it once", key.Value)}
		}
		h.key, h.value = root.Content[i], root.Content[i+1]
		if i+2 < len(root.Content) {
			h.next = root.Content[i+2]
		}
	}
	if h.key == nil || isNothing(h.value) {
		return h, nil
	}
	want, words := yaml.MappingNode, "keys and their values"
	if p.List {
		want, words = yaml.SequenceNode, "a list"
	}
	if h.value.Kind != want {
		return nil, &Fault{h.value.Line, h.value.Column, fmt.Sprintf("%q has something else; expected %s", p.Path[0], words)}
	}
	return h, nil
}

// offset returns the offset of a node's first byte. It counts lines as the parser does, which
// recognizes five kinds of line ends.
func (h *yamlHolder) offset(n *yaml.Node) int {
	at := 0
	for line := 1; line < n.Line && at < len(h.text); {
		r, size := utf8.DecodeRune(h.text[at:])
		at += size
		switch {
		case r == '\r' && at < len(h.text) && h.text[at] == '\n':
		case r == '\r' || r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029:
			line++
		}
	}
	for column := 1; column < n.Column && at < len(h.text); column++ {
		_, size := utf8.DecodeRune(h.text[at:])
		at += size
	}
	return at
}

// colon returns the offset after the colon of the holder's key, or -1 if it is not there.
func (h *yamlHolder) colon() int {
	at := h.offset(h.key)
	line := h.text[at:lineAfter(h.text, at)]
	i := bytes.Index(line, []byte(":"))
	if i < len(h.key.Value) {
		return -1
	}
	return at + i + 1
}

func (yamlText) put(text []byte, p Place, entry []Field, end string) ([][]edit, error) {
	h, err := yamlHolderOf(text, p)
	if err != nil {
		return nil, err
	}
	if h.root != nil && h.root.Style&yaml.FlowStyle != 0 && (h.key == nil || len(h.value.Content) == 0) {
		return h.putFlow(p, entry), nil
	}
	if h.root == nil || h.key == nil {
		indent, begin := "", len(text)
		if h.root != nil && len(h.root.Content) > 0 {
			first := h.offset(h.root.Content[0])
			indent, _ = indentOf(text, first)
			begin = lineStart(text, first)
		}
		body := indent + p.Path[0] + ":" + end + yamlEntry(p, entry, indent+"  ", end)
		return [][]edit{{h.newLines(len(text), body, end)}, {h.newLines(begin, body, end)}}, nil
	}
	outer, _ := indentOf(text, h.offset(h.key))
	switch {
	case isNothing(h.value) || len(h.value.Content) == 0:
		return h.fill(yamlEntry(p, entry, outer+"  ", end), end), nil
	case h.value.Style&yaml.FlowStyle != 0:
		at := h.offset(h.value.Content[0])
		return [][]edit{{{at, at, yamlFlow(p, entry) + ", "}}}, nil
	}
	first := h.offset(h.value.Content[0])
	begin := lineStart(text, first)
	indent, _ := indentOf(text, first)
	body := yamlEntry(p, entry, indent, end)
	var ways [][]edit
	for _, at := range h.ends(h.after(), outer) {
		ways = append(ways, []edit{h.newLines(at, body, end)})
	}
	return append(ways, []edit{{begin, begin, body}}), nil
}

// putFlow adds the first entry to a text in flow style (braces), in JSON notation: this is valid
// YAML, and a JSON text stays JSON.
func (h *yamlHolder) putFlow(p Place, entry []Field) [][]edit {
	holder := "{" + quoted(p.Name) + ": " + fields(entry).jsonInline(" ") + "}"
	if p.List {
		holder = "[" + fields(append([]Field{{"name", p.Name}}, entry...)).jsonInline(" ") + "]"
	}
	if h.key == nil {
		at, member := h.offset(h.root)+1, quoted(p.Path[0])+": "+holder
		if len(h.root.Content) > 0 {
			member += ", "
		}
		return [][]edit{{{at, at, member}}}
	}
	from := h.offset(h.value)
	to := from + len(h.value.Value)
	if h.value.Kind != yaml.ScalarNode { // {} or []
		to = from + 1 + bytes.IndexAny(h.text[from:], "}]")
	}
	ways := [][]edit{{{from, to, holder}}}
	if colon := h.colon(); colon >= 0 {
		ways = append(ways, []edit{{colon, colon, " " + holder}})
	}
	return ways
}

// newLines inserts lines at the beginning of a line or at the end of the text.
func (h *yamlHolder) newLines(at int, body, end string) edit {
	if at > 0 && h.text[at-1] != '\n' {
		body = end + body
	}
	return edit{at, at, body}
}

// fill adds the first entry after the holder's key.
func (h *yamlHolder) fill(body, end string) [][]edit {
	colon := h.colon()
	if colon < 0 {
		return nil
	}
	next := lineAfter(h.text, colon)
	var edits []edit
	if value := h.offset(h.value); h.value.Kind != yaml.ScalarNode || h.value.Value != "" { // {}, [], null
		to := value + len(h.value.Value)
		if h.value.Kind != yaml.ScalarNode {
			closing := bytes.IndexAny(h.text[value:], "}]")
			if closing < 0 {
				return nil
			}
			to = value + closing + 1
		}
		edits = []edit{{colon, to, ""}}
		next = lineAfter(h.text, to)
	}
	return [][]edit{append(edits, h.newLines(next, body, end))}
}

// after returns the end of the holder: the line of the next key, or the end of the text.
func (h *yamlHolder) after() int {
	if h.next == nil {
		return len(h.text)
	}
	return lineStart(h.text, h.offset(h.next))
}

// ends returns possible ends of an item that ends before an offset, the best first. Comments
// indented at most like the key, and empty lines, belong to the next item.
func (h *yamlHolder) ends(to int, outer string) []int {
	at := to
	for at > 0 {
		begin := lineStart(h.text, at-1)
		line := h.text[begin:at]
		rest := bytes.TrimLeft(line, " ")
		if !isBlank(line) && (rest[0] != '#' || len(line)-len(rest) > len(outer)) {
			break
		}
		at = begin
	}
	return []int{at, to}
}

// yamlEntry formats an entry over several lines.
func yamlEntry(p Place, entry []Field, indent, end string) string {
	var b strings.Builder
	if p.List {
		b.WriteString(indent + "- name: " + p.Name + end)
	} else {
		b.WriteString(indent + p.Name + ":" + end)
	}
	for _, f := range entry {
		b.WriteString(indent + "  " + yamlKey(f.Name) + ": " + jsonValue(f.Value, " ") + end)
	}
	return b.String()
}

// yamlKey returns a key, quoted if it could be read as another value.
func yamlKey(name string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z_-]{3,}$`).MatchString(name) && name != "null" &&
		!strings.EqualFold(name, "true") && !strings.EqualFold(name, "false") || name == "cmd" {
		return name
	}
	return quoted(name)
}

// yamlFlow formats an entry in flow style.
func yamlFlow(p Place, entry []Field) string {
	var fields []string
	for _, f := range entry {
		fields = append(fields, yamlKey(f.Name)+": "+jsonValue(f.Value, " "))
	}
	if p.List {
		return "{" + strings.Join(append([]string{"name: " + p.Name}, fields...), ", ") + "}"
	}
	return p.Name + ": {" + strings.Join(fields, ", ") + "}"
}

func (yamlText) drop(text []byte, p Place) ([][]edit, error) {
	h, err := yamlHolderOf(text, p)
	if err != nil {
		return nil, err
	}
	step := 2
	if p.List {
		step = 1
	}
	items := h.value.Content
	at := 0
	for i := 0; i < len(items); i += step {
		if !p.List && items[i].Value == p.Name || p.List && yamlTree(items[i]).at("name").is(p.Name) {
			at = i
		}
	}
	from := lineStart(text, h.offset(items[at]))
	if h.value.Style&yaml.FlowStyle != 0 {
		return h.dropFlow(at, step), nil
	}
	outer, _ := indentOf(text, h.offset(h.key))
	to := h.after()
	if at+step < len(items) {
		outer, _ = indentOf(text, h.offset(items[at]))
		to = lineStart(text, h.offset(items[at+step]))
	}
	var ways [][]edit
	for _, end := range h.ends(to, outer) {
		way := []edit{{from, end, ""}}
		if len(items) == step { // it becomes empty
			empty := " {}"
			if p.List {
				empty = " []"
			}
			if colon := h.colon(); colon >= 0 {
				way = append(way, edit{colon, colon, empty})
			}
		}
		ways = append(ways, way)
	}
	return ways, nil
}

// dropFlow removes an item in flow style.
func (h *yamlHolder) dropFlow(at, step int) [][]edit {
	items := h.value.Content
	next := -1
	if at+step < len(items) {
		next = h.offset(items[at+step])
	}
	return dropInline(h.text, h.offset(items[at]), next, at == 0)
}

func (t *tree) is(text string) bool { return t != nil && t.kind == stringKind && t.scalar == text }
