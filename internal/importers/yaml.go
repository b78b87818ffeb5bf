package importers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
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
		return nil,
			aai.Errorf(aai.InvalidParams, "the document: %s; expected an OpenAPI document in JSON or YAML",
				aai.CleanText(err.Error(), maxPlace))
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

type yamlWriter struct {
	text   bytes.Buffer
	values int
}

func (w *yamlWriter) fault(n *yaml.Node, problem, expected string) error {
	return documentError(fmt.Sprintf("line %d", n.Line), problem, expected)
}

func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	w.values++
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
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return w.fault(key, "is a key that is no scalar", "a name")
		}
		if key.ShortTag() == "!!merge" {
			return w.fault(key, `is a merge key ("<<")`, "the members themselves")
		}
		if i > 0 {
			w.text.WriteByte(',')
		}
		w.string(key.Value)
		w.text.WriteByte(':')
		if err := w.value(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.text.WriteByte('}')
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
	case "!!int":
		var i int64
		if err := n.Decode(&i); err == nil {
			w.text.WriteString(strconv.FormatInt(i, 10))
			return nil
		}
		return w.float(n)
	case "!!float":
		return w.float(n)
	default:
		w.string(n.Value)
	}
	return nil
}

func (w *yamlWriter) float(n *yaml.Node) error {
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return w.fault(n, fmt.Sprintf("is the number %q", aai.CleanLabel(n.Value, 40)), "one that JSON has")
	}
	b, err := json.Marshal(f)
	if err != nil {
		return w.fault(n, "is a number", "one that JSON has")
	}
	w.text.Write(b)
	return nil
}
