package osascript

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

const (
	// maxSpecials limits the characters of a text that are written as numbers, since each is an operand.
	maxSpecials = 1000
	// maxNesting limits the lists in lists of a value.
	maxNesting = 30
	// maxExact is the largest whole number that a real of AppleScript holds exactly.
	maxExact = 1 << 53
)

// literal returns a JSON value as a constant expression of AppleScript. Its error is INVALID_PARAMS.
func literal(value any, depth int) (string, error) {
	switch value := value.(type) {
	case nil:
		return "missing value", nil
	case bool:
		return strconv.FormatBool(value), nil
	case string:
		return quote(value)
	case []any:
		return listLiteral(value, depth)
	case map[string]any:
		return recordLiteral(value, depth)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", unsuitable("a JSON value", fmt.Sprintf("%T", value))
	}
	return numberLiteral(string(text))
}

func listLiteral(list []any, depth int) (string, error) {
	if depth >= maxNesting {
		return "", unsuitable(fmt.Sprintf("at most %d lists in lists", maxNesting), "more")
	}
	items := make([]string, len(list))
	for i, item := range list {
		text, err := literal(item, depth+1)
		if err != nil {
			return "", err
		}
		items[i] = text
	}
	return "{" + strings.Join(items, ", ") + "}", nil
}

func recordLiteral(record map[string]any, depth int) (string, error) {
	if depth >= maxNesting {
		return "", unsuitable(fmt.Sprintf("at most %d lists in lists", maxNesting), "more")
	}
	items := make([]string, 0, len(record))
	for _, name := range slices.Sorted(maps.Keys(record)) {
		if !plainLabel(name) {
			return "", unsuitable("names of letters, digits, spaces, \"_\", \"-\" and \".\"", name)
		}
		text, err := literal(record[name], depth+1)
		if err != nil {
			return "", err
		}
		items = append(items, "|"+name+"|:"+text)
	}
	return "{" + strings.Join(items, ", ") + "}", nil
}

// plainLabel reports whether a name can stand between bars.
func plainLabel(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune(" _-.", c) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && (c < 0xC0 || c > 0x24F) {
			return false
		}
	}
	return name != "" && len(name) <= 200
}

// quote returns a text as an expression: literals, and numbers of the characters that have a meaning in a script or no form in it.
func quote(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", unsuitable("a text without the character NUL", "one")
	}
	var b strings.Builder
	b.WriteByte('"')
	specials := 0
	for _, c := range text {
		switch {
		case c == '"':
			b.WriteString(`\"`)
		case c == '\\':
			b.WriteString(`\\`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c >= 0x7F && c < 0xA0 || slices.Contains([]rune{'¬', 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF}, c):
			specials++
			fmt.Fprintf(&b, `" & (character id %d) & "`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	switch {
	case specials > maxSpecials:
		return "", unsuitable(fmt.Sprintf("at most %d control characters", maxSpecials), strconv.Itoa(specials))
	case specials > 0:
		return "(" + b.String() + ")", nil
	}
	return b.String(), nil
}

// numberLiteral returns a number of JSON. It writes no decimal point: with a whole number and a power of ten no language of the
// system matters.
func numberLiteral(text string) (string, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	scale, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" {
		return "", unsuitable("a number that AppleScript holds", text)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	digits, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || !digits.IsInt64() || digits.Int64() > maxExact || digits.Int64() < -maxExact {
		return "", unsuitable("a number of at most fifteen digits, or a text", text)
	}
	scale -= len(fraction)
	switch {
	case digits.Sign() == 0:
		return "0", nil
	case scale > 300 || scale < -300:
		return "", unsuitable("a number that AppleScript holds", text)
	case scale < 0:
		return fmt.Sprintf("(%s / (10 ^ %d))", digits, -scale), nil
	case scale > 0:
		return fmt.Sprintf("(%s * (10 ^ %d))", digits, scale), nil
	}
	return digits.String(), nil
}

func unsuitable(expected, got string) *aai.Error {
	return aai.Errorf(aai.InvalidParams, "expected %s, got %s", expected, aai.CleanLabel(got, 60))
}
