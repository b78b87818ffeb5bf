package importers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/gybob/aai-gateway"
)

// fromYAML converts a YAML document to JSON. An alias counts at each use.
func fromYAML(source []byte) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, err = nil, documentError("the document", "is no YAML that can be read", "an OpenAPI document in JSON or YAML")
		}
	}()
	var all []yaml.Node
	deep := loaderlimits.New(loaderlimits.DepthValue(maxDepth))
	if err := yaml.Load(source, &all, yaml.WithAllDocuments(), yaml.WithPlugin(deep)); err != nil {
		return nil, addTabHint(aai.Errorf(aai.InvalidParams, "the document: %s; expected an OpenAPI document in JSON or YAML",
			aai.CleanText(err.Error(), maxPlace)), source)
	}
	if len(all) != 1 || all[0].Kind != yaml.DocumentNode || len(all[0].Content) != 1 {
		return nil, documentError("the document", fmt.Sprintf("holds %d documents of YAML", len(all)), "one")
	}
	w := &yamlWriter{}
	if err := w.value(all[0].Content[0], 0); err != nil {
		return nil, err
	}
	return w.text.Bytes(), nil
}

// A yamlWriter writes a document as JSON. A value stands in the line that it has in the YAML text,
// but those of aliases.
type yamlWriter struct {
	text    bytes.Buffer
	values  int
	line    int // of the text so far, from 0
	aliases int // that the value is in
}

func (w *yamlWriter) fault(n *yaml.Node, problem, expected string) error {
	return documentError(fmt.Sprintf("line %d", n.Line), problem, expected)
}

func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	w.values++
	if w.aliases == 0 && n.Line-1 > w.line {
		w.text.Write(bytes.Repeat([]byte{'\n'}, n.Line-1-w.line))
		w.line = n.Line - 1
	}
	switch {
	case w.values > maxValues || w.text.Len() > 2*maxBytes:
		return w.fault(n, fmt.Sprintf("with its aliases followed the document has more than %d values or %d bytes", maxValues,
			2*maxBytes), "fewer")
	case depth > maxDepth:
		return w.fault(n, fmt.Sprintf("with its aliases followed the document is nested more than %d deep", maxDepth),
			"no circle of aliases")
	}
	switch n.Kind {
	case yaml.AliasNode:
		w.aliases++
		defer func() { w.aliases-- }()
		return w.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.object(n, depth)
	case yaml.SequenceNode:
		w.text.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				w.text.WriteByte(',')
			}
			if err := w.value(item, depth+1); err != nil {
				return err
			}
		}
		w.text.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return w.scalar(n)
	}
	return w.fault(n, "is no value", "a mapping, a sequence or a scalar")
}

func (w *yamlWriter) object(n *yaml.Node, depth int) error {
	w.text.WriteByte('{')
	written := make(map[string]bool)
	if err := w.members(n, depth, written); err != nil {
		return err
	}
	w.text.WriteByte('}')
	return nil
}

// members writes the members of a mapping, and then those that it merges ("<<") and does not have.
func (w *yamlWriter) members(n *yaml.Node, depth int, written map[string]bool) error {
	var merged []*yaml.Node
	merging := len(written) > 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return w.fault(key, "is a key that is no scalar", "a name")
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
			continue
		case merging && written[key.Value]:
			continue
		}
		if len(written) > 0 {
			w.text.WriteByte(',')
		}
		written[key.Value] = true
		w.string(key.Value)
		w.text.WriteByte(':')
		if err := w.value(value, depth+1); err != nil {
			return err
		}
	}
	return w.merge(n, merged, depth, written)
}

// merge writes the members of mappings, or of lists of mappings, that a mapping merges.
func (w *yamlWriter) merge(n *yaml.Node, merged []*yaml.Node, depth int, written map[string]bool) error {
	w.aliases++
	defer func() { w.aliases-- }()
	for _, from := range merged {
		if from.Kind == yaml.AliasNode {
			from = from.Alias
		}
		w.values++
		switch {
		case depth > maxDepth || w.values > maxValues:
			return w.fault(n, "merges itself", "a mapping with an end")
		case from.Kind == yaml.SequenceNode:
			if err := w.merge(n, from.Content, depth+1, written); err != nil {
				return err
			}
		case from.Kind != yaml.MappingNode:
			return w.fault(n, "merges a value that is no mapping", "a mapping")
		default:
			if err := w.members(from, depth+1, written); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *yamlWriter) string(s string) {
	b, _ := json.Marshal(s) // encoding a string does not fail
	w.text.Write(b)
}

func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.text.WriteString("null")
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return w.fault(n, "is no boolean", "true or false")
		}
		w.text.WriteString(strconv.FormatBool(b))
	case "!!int", "!!float":
		// JSON has no other form for numbers such as 0x1F and .inf: the member decides what they are.
		if json.Valid([]byte(n.Value)) {
			w.text.WriteString(n.Value)
			return nil
		}
		w.string(n.Value)
	default:
		w.string(n.Value)
	}
	return nil
}
