package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxPhrase is the limit in bytes for the description of a schema in a message.
const maxPhrase = 300

// describeMismatch describes the expected and the actual value at one place.
func (x *explanation) describeMismatch(f *jsonschema.ValidationError, at path, value any) string {
	s := x.byLocation[f.SchemaURL]
	if s == nil {
		return "does not fit the schema"
	}
	got := describeValue(value, x.secrets.covers(at, value))
	switch k := f.ErrorKind.(type) {
	case *kind.FalseSchema:
		return "not expected here, got " + got
	case *kind.Not:
		return "expected another value, got " + got
	case *kind.OneOf:
		return fmt.Sprintf("expected a value of exactly one form in the schema, but it fits forms %d and %d",
			k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.MinLength:
		got = describeLength(k.Got, x.secrets.covers(at, value))
	case *kind.MaxLength:
		got = describeLength(k.Got, x.secrets.covers(at, value))
	case *kind.MinProperties:
		got = aai.Count(k.Got, "member")
	case *kind.MaxProperties:
		got = aai.Count(k.Got, "member")
	case *kind.AdditionalItems:
		got = fmt.Sprintf("%d too many", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("expected items that are all different, but items %d and %d are equal",
			k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		wanted := "another value"
		if s.Contains != nil {
			wanted = expectation(s.Contains)
		}
		return "expected a list with at least one item that is " + wanted + ", got " + got
	}
	return "expected " + expectation(s) + ", got " + got
}

// expectation describes a schema in a few words.
func expectation(s *jsonschema.Schema) string { return aai.CleanLabel(describe(s), maxPhrase) }

func describe(s *jsonschema.Schema) string {
	for s.Ref != nil {
		s = s.Ref
	}
	switch {
	case s.Bool != nil && !*s.Bool:
		return "nothing"
	case s.Const != nil:
		return literal(*s.Const)
	case s.Enum != nil:
		return choice(s.Enum.Values)
	}
	var each []string
	for _, name := range typesOf(s) {
		each = append(each, phrase(s, name))
	}
	if len(each) > 0 {
		return strings.Join(each, " or ")
	}
	switch {
	case len(s.AllOf) > 0:
		return describe(s.AllOf[0])
	case len(s.AnyOf) > 0:
		return eitherOf(s.AnyOf)
	case len(s.OneOf) > 0:
		return eitherOf(s.OneOf)
	}
	return "another value"
}

func eitherOf(branches []*jsonschema.Schema) string {
	if len(branches) > 3 {
		return fmt.Sprintf("one of %d forms in the schema", len(branches))
	}
	var each []string
	for _, branch := range branches {
		each = append(each, describe(branch))
	}
	return strings.Join(each, " or ")
}

// typesOf returns the types of a schema, or those that its keywords imply.
func typesOf(s *jsonschema.Schema) []string {
	if s.Types != nil {
		return s.Types.ToStrings()
	}
	switch {
	case s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil ||
		s.MultipleOf != nil:
		return []string{"number"}
	case s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil || s.Format != nil:
		return []string{"string"}
	case s.MinItems != nil || s.MaxItems != nil || s.Items != nil || s.Items2020 != nil || s.PrefixItems != nil ||
		s.UniqueItems || s.Contains != nil:
		return []string{"array"}
	case s.MinProperties != nil || s.MaxProperties != nil || s.Properties != nil || s.Required != nil:
		return []string{"object"}
	}
	return nil
}

// phrase describes one type with its limits.
func phrase(s *jsonschema.Schema, typeName string) string {
	switch typeName {
	case "integer":
		return "an integer" + numberLimits(s)
	case "number":
		return "a number" + numberLimits(s)
	case "string":
		words := "a string"
		if s.Format != nil {
			words = formatPhrase(s.Format.Name)
		}
		words += countLimits(s.MinLength, s.MaxLength, "character")
		if s.Pattern != nil {
			words += " that matches " + aai.CleanLabel(s.Pattern.String(), maxLabel)
		}
		return words
	case "array":
		return "a list" + countLimits(s.MinItems, s.MaxItems, "item")
	case "object":
		return "an object" + countLimits(s.MinProperties, s.MaxProperties, "member")
	case "boolean":
		return "true or false"
	}
	return typeName
}

func formatPhrase(format string) string {
	switch format {
	case "email":
		return "an email address"
	case "date":
		return "a date such as 2006-01-31"
	case "time":
		return "a time such as 15:04:05Z"
	case "date-time":
		return "a date and time such as 2006-01-31T15:04:05Z"
	case "duration":
		return "a duration such as P1DT12H"
	case "uri", "iri":
		return "a URI such as https://example.org/"
	case "hostname":
		return "a host name"
	case "ipv4":
		return "an IPv4 address"
	case "ipv6":
		return "an IPv6 address"
	case "uuid":
		return "a UUID"
	case "regex":
		return fmt.Sprintf("a regular expression (RE2, at most %d bytes)", maxPattern)
	}
	return "a string in the format " + quote(format)
}

func numberLimits(s *jsonschema.Schema) string {
	var limits []string
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		limits = append(limits, "from "+decimal(s.Minimum)+" to "+decimal(s.Maximum))
	case s.Minimum != nil:
		limits = append(limits, "from "+decimal(s.Minimum))
	case s.Maximum != nil:
		limits = append(limits, "up to "+decimal(s.Maximum))
	}
	if s.ExclusiveMinimum != nil {
		limits = append(limits, "greater than "+decimal(s.ExclusiveMinimum))
	}
	if s.ExclusiveMaximum != nil {
		limits = append(limits, "less than "+decimal(s.ExclusiveMaximum))
	}
	if s.MultipleOf != nil {
		limits = append(limits, "in steps of "+decimal(s.MultipleOf))
	}
	if len(limits) == 0 {
		return ""
	}
	return " " + strings.Join(limits, " and ")
}

func countLimits(least, most *int, unit string) string {
	switch {
	case least != nil && most != nil && *least == *most:
		return " of " + aai.Count(*least, unit)
	case least != nil && most != nil && *least > 0:
		return fmt.Sprintf(" of %d to %s", *least, aai.Count(*most, unit))
	case most != nil:
		return " of at most " + aai.Count(*most, unit)
	case least != nil && *least > 0:
		return " of at least " + aai.Count(*least, unit)
	}
	return ""
}

// choice lists the first ten values of an enum.
func choice(values []any) string {
	const most = 10
	if len(values) == 1 {
		return literal(values[0])
	}
	var each []string
	for _, value := range values[:min(most, len(values))] {
		each = append(each, literal(value))
	}
	if len(values) > most {
		each = append(each, fmt.Sprintf("… (%d in all)", len(values)))
	}
	return "one of " + strings.Join(each, ", ")
}

// describeValue describes a caller's value in at most a few dozen bytes. For a secret it names
// only the type.
func describeValue(value any, secret bool) string {
	if !secret {
		return literal(value)
	}
	switch value.(type) {
	case string:
		return "a string (not shown)"
	case json.Number, int64, float64:
		return "a number (not shown)"
	case bool:
		return "true or false (not shown)"
	}
	return literal(value)
}

// describeLength describes the length of a string, unless the string is part of a secret.
func describeLength(characters int, secret bool) string {
	if secret {
		return describeValue("", secret)
	}
	return aai.Count(characters, "character")
}

// literal returns a value as JSON, shortened. For lists and objects it only names the kind.
func literal(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quote(v)
	case json.Number:
		return aai.CleanLabel(v.String(), maxLabel)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if size := math.Abs(v); v == 0 || 1e-6 < size && size < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list of " + aai.Count(len(v), "item")
	}
	return "an object"
}

func decimal(r *big.Rat) string {
	if r.IsInt() && len(r.Num().String()) <= maxLabel {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// description returns the description of a schema or of its "$ref" target.
func description(s *jsonschema.Schema) string {
	for s.Description == "" && s.Ref != nil {
		s = s.Ref
	}
	return s.Description
}
