package webapi

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// errSplitValue reports a value that the server would read as several values.
var errSplitValue = errors.New("has a value that contains the separator of values, which the app does not accept")

// errScalars reports a value that an address cannot express.
var errScalars = errors.New("expected texts, numbers or booleans for the request's address, fields and headers")

// pair is a name and a value of a query, escaped.
type pair struct {
	plain      string // name before escaping
	name, text string
}

func joined(pairs []pair, between string) string {
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(p.name + "=" + p.text)
	}
	return b.String()
}

func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// escape encodes a value of the parameter. The characters that could begin another parameter or a
// fragment are always encoded.
func (p paramPlace) escape(s string) string {
	escaped := queryEscape(s)
	if !p.reserved {
		return escaped
	}
	return strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%40", "@", "%21", "!", "%24", "$", "%27", "'",
		"%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3D", "=", "%5B", "[", "%5D", "]").Replace(escaped)
}

// escapeItem is escape for one of several values, between which a comma may stand.
func (p paramPlace) escapeItem(s string) string { return strings.ReplaceAll(p.escape(s), ",", "%2C") }

// addPairs appends the pairs of a query parameter. It rejects names of other parameters and of the
// user's key.
func (t *tool) addPairs(pairs []pair, param string, p paramPlace, value any) ([]pair, error) {
	before := len(pairs)
	pairs, err := p.addPairs(pairs, value)
	if err != nil {
		return nil, err
	}
	keys := t.recipe.HTTP.Auth.Keys()
	for _, added := range pairs[before:] {
		name, _, _ := strings.Cut(added.plain, "[") // servers take "key[]" for "key"
		if slices.ContainsFunc(keys, func(k aai.KeyPlace) bool {
			return k.In == inQuery && (strings.EqualFold(name, k.Name) || added.plain == k.Name)
		}) {
			return nil, errors.New("is reserved for the person's key; no argument may have this name")
		}
		if _, fixed := t.recipe.HTTP.Query[added.plain]; fixed {
			return nil, errors.New("has the name of a part of the query that the app has set; expected another")
		}
		for other, taken := range t.places {
			if other != param && taken.in == inQuery && taken.name == added.plain {
				return nil, errors.New("has a member with the name of another parameter; expected others")
			}
		}
	}
	return pairs, nil
}

// addPairs appends the pairs of a value in a query, in cookies or in a form. It omits null. It
// encodes a space as "%20", which every server reads.
func (p paramPlace) addPairs(pairs []pair, value any) ([]pair, error) {
	add := func(name, text string) {
		pairs = append(pairs, pair{name, queryEscape(name), text})
	}
	if value == nil {
		return pairs, nil
	}
	if p.style == styleJSON {
		text, err := encodeJSON(value)
		add(p.name, p.escape(string(text)))
		return pairs, err
	}
	if p.style == deepObject {
		return p.deepPairs(pairs, p.name, value)
	}
	switch v := value.(type) {
	case []any:
		texts, err := scalars(v, p.escapeItem)
		if p.explode {
			for _, text := range texts {
				add(p.name, text)
			}
			return pairs, err
		}
		if err == nil && p.isSplitByDelimiter(texts) {
			err = errSplitValue
		}
		if len(texts) > 0 {
			add(p.name, strings.Join(texts, p.delimiter()))
		}
		return pairs, err
	case map[string]any:
		if !p.declared {
			return nil, errScalars
		}
		return p.objectPairs(pairs, v)
	}
	text, scalar := scalarText(value)
	if !scalar {
		return nil, errScalars
	}
	add(p.name, p.escape(text))
	return pairs, nil
}

// delimiter returns the separator of values in one pair.
func (p paramPlace) delimiter() string {
	switch p.style {
	case spaceDelimited:
		return "%20"
	case pipeDelimited:
		return "%7C"
	}
	return ","
}

// isSplitByDelimiter reports whether a text contains the delimiter, so that the server would read it as
// several values.
func (p paramPlace) isSplitByDelimiter(texts []string) bool {
	return p.delimiter() != "," &&
		slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, p.delimiter()) })
}

func (p paramPlace) objectPairs(pairs []pair, object map[string]any) ([]pair, error) {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if object[key] == nil {
			continue
		}
		text, scalar := scalarText(object[key])
		switch {
		case !scalar:
			return nil, errScalars
		case p.explode:
			pairs = append(pairs, pair{key, queryEscape(key), p.escape(text)})
		default:
			texts = append(texts, queryEscape(key), p.escapeItem(text))
		}
	}
	if p.isSplitByDelimiter(texts) {
		return nil, errSplitValue
	}
	if len(texts) > 0 {
		pairs = append(pairs, pair{p.name, queryEscape(p.name), strings.Join(texts, p.delimiter())})
	}
	return pairs, nil
}

// deepPairs encodes members as name[key], and list items as name[0].
func (p paramPlace) deepPairs(pairs []pair, name string, value any) (_ []pair, err error) {
	switch v := value.(type) {
	case nil:
		return pairs, nil
	case []any:
		for i, item := range v {
			if pairs, err = p.deepPairs(pairs, name+"["+strconv.Itoa(i)+"]", item); err != nil {
				return nil, err
			}
		}
		return pairs, nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if pairs, err = p.deepPairs(pairs, name+"["+key+"]", v[key]); err != nil {
				return nil, err
			}
		}
		return pairs, nil
	}
	text, scalar := scalarText(value)
	if !scalar {
		return nil, errScalars
	}
	return append(pairs, pair{name, queryEscape(name), p.escape(text)}), nil
}

func scalars(values []any, escape func(string) string) ([]string, error) {
	texts := make([]string, len(values))
	for i, value := range values {
		text, scalar := scalarText(value)
		if !scalar {
			return nil, errScalars
		}
		texts[i] = escape(text)
	}
	return texts, nil
}

// part is a value in a path or a header. If the value is a member of an object, key is the
// member's name.
type part struct{ key, text string }

// parts returns the values within a value, escaped. single reports whether value is a scalar.
func (p paramPlace) parts(value any, escape func(string) string) (parts []part, single bool, err error) {
	if text, scalar := scalarText(value); scalar {
		return []part{{text: escape(text)}}, true, nil
	}
	if !p.declared {
		return nil, false, errors.New("expected a text, a number or a boolean")
	}
	switch v := value.(type) {
	case []any:
		texts, err := scalars(v, escape)
		for _, text := range texts {
			parts = append(parts, part{text: text})
		}
		return parts, false, err
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, scalar := scalarText(v[key])
			if !scalar {
				return nil, false, errScalars
			}
			parts = append(parts, part{escape(key), escape(text)})
		}
	}
	if len(parts) == 0 {
		err = errors.New("expected one value at least")
	}
	return parts, false, err
}

// spell joins parts: members as key=value if p.explode is set, otherwise as key,value.
func (p paramPlace) spell(parts []part, between string) string {
	texts := make([]string, 0, len(parts))
	for _, one := range parts {
		switch {
		case one.key != "" && p.explode:
			texts = append(texts, one.key+"="+one.text)
		case one.key != "":
			texts = append(texts, one.key, one.text)
		default:
			texts = append(texts, one.text)
		}
	}
	return strings.Join(texts, between)
}

// inPath encodes a value for a segment of the path, escaped.
func (p paramPlace) inPath(value any) (string, error) {
	parts, single, err := p.parts(value, url.PathEscape)
	if err != nil {
		return "", err
	}
	if len(parts) == 0 || !single && slices.Contains(parts, part{}) {
		return "", errors.New("expected no empty list and no empty text")
	}
	name := url.PathEscape(p.name)
	switch {
	case p.style == label && p.explode:
		return "." + p.spell(parts, "."), nil
	case p.style == label:
		return "." + p.spell(parts, ","), nil
	case p.style == matrix && p.explode && parts[0].key != "":
		return ";" + p.spell(parts, ";"), nil
	case p.style == matrix && p.explode:
		for i := range parts {
			parts[i].text = name + "=" + parts[i].text
		}
		return ";" + p.spell(parts, ";"), nil
	case p.style == matrix:
		return ";" + name + "=" + p.spell(parts, ","), nil
	}
	return p.spell(parts, ","), nil
}

// addHeader encodes a value for a header, which has one line.
func (m *message) addHeader(p paramPlace, value any) error {
	if value == nil {
		return nil
	}
	same := func(s string) string { return s }
	text := ""
	if p.style == styleJSON {
		written, err := encodeJSON(value)
		if err != nil {
			return err
		}
		text = string(written)
	} else {
		parts, _, err := p.parts(value, same)
		if err != nil {
			return err
		}
		text = p.spell(parts, ",")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("expected one line without control characters for a header")
	}
	m.headers.Set(p.name, text)
	return nil
}
