// Package answer declares the data that the gateway's own tools return, once for the tools and for
// every door. The JSON form of these types is a promise to programs. A field with the tag
// column:"2,caller" is the second column of the table for people, with the title "caller".
package answer

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SchemaOf returns the JSON Schema of answers of type T. It describes the members of T and of its
// rows, the columns first and with their titles; of deeper members it states the type alone. The
// tag about describes a member, enum lists its values, and column:"-" marks a list that is no table.
func SchemaOf[T any]() json.RawMessage {
	return json.RawMessage("{" + describe(reflect.TypeFor[T](), true, false) + "}")
}

// describe returns the members of the schema of t. members includes the members of an object or of
// the rows of a list, and closed excludes others.
func describe(t reflect.Type, members, closed bool) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return `"type": "string", "format": "date-time"`
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem(), members, closed)
	case reflect.String:
		return `"type": "string"`
	case reflect.Bool:
		return `"type": "boolean"`
	case reflect.Float64:
		return `"type": "number"`
	case reflect.Slice:
		return `"type": "array", "items": {` + describe(t.Elem(), members, true) + `}`
	case reflect.Map, reflect.Struct:
		if !members || t.Kind() == reflect.Map {
			return `"type": "object"`
		}
		open := ""
		if closed {
			open = `"additionalProperties": false, `
		}
		return `"type": "object", ` + open + `"properties": {` + strings.Join(properties(t, closed), ", ") + `}`
	}
	return `"type": "integer"`
}

// properties returns the properties of the object t, the columns of a row first.
func properties(t reflect.Type, row bool) []string {
	type column struct {
		place int
		text  string
	}
	var all []column
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue // unexported, or embedded: its fields are visible
		}
		number, title, _ := strings.Cut(field.Tag.Get("column"), ",")
		kind := field.Type.Kind()
		schema := []string{describe(field.Type, !row && number != "-" && kind == reflect.Slice, false)}
		if about := field.Tag.Get("about"); about != "" {
			schema = append(schema, `"description": `+strconv.Quote(about))
		}
		if enum := field.Tag.Get("enum"); enum != "" {
			schema = append(schema, `"enum": ["`+strings.ReplaceAll(enum, ",", `", "`)+`"]`)
		}
		place, err := strconv.Atoi(number)
		if err != nil {
			place = 1 << 10 // after the columns
		} else {
			schema = append(schema, `"title": `+strconv.Quote(title))
		}
		schema = slices.DeleteFunc(schema, func(part string) bool { return part == "" })
		all = append(all, column{place, strconv.Quote(name) + ": {" + strings.Join(schema, ", ") + "}"})
	}
	slices.SortStableFunc(all, func(a, b column) int { return cmp.Compare(a.place, b.place) })
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = c.text
	}
	return texts
}
