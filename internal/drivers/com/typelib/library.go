// Package typelib describes the type library of a COM class, as data: the interfaces that a script can reach from an object of the
// class, with their members, and the enumerations of these.
package typelib

// A Library describes the interfaces that lead from a class.
type Library struct {
	ProgID  string `json:"progid"`
	Name    string `json:"name,omitempty"` // of the library, in words
	Version string `json:"version,omitempty"`
	// InProcess reports that objects of the class are in the caller's process: their state ends with the call.
	InProcess bool `json:"in_process,omitempty"`
	// Interfaces are in the order in which they were found; the first one is that of the class.
	Interfaces []Interface `json:"interfaces"`
	Enums      []Enum      `json:"enums,omitempty"`
}

// Interface returns the interface of a name, or nil.
func (l *Library) Interface(name string) *Interface {
	for i := range l.Interfaces {
		if l.Interfaces[i].Name == name {
			return &l.Interfaces[i]
		}
	}
	return nil
}

// Enum returns the enumeration of a name, or nil.
func (l *Library) Enum(name string) *Enum {
	for i := range l.Enums {
		if l.Enums[i].Name == name {
			return &l.Enums[i]
		}
	}
	return nil
}

// An Interface has the members of an object.
type Interface struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc,omitempty"`
	Items   bool     `json:"items,omitempty"` // it can be enumerated
	Members []Member `json:"members"`
}

// A Kind is the kind of a Member.
type Kind string

// The kinds of members.
const (
	Method Kind = "method"
	Get    Kind = "get"
	Put    Kind = "put"
	PutRef Kind = "putref"
)

// A Member is a method of an interface, or one way of using a property.
type Member struct {
	Name    string      `json:"name"`
	Kind    Kind        `json:"kind"`
	Doc     string      `json:"doc,omitempty"`
	Params  []Parameter `json:"params,omitempty"` // of Put and PutRef the last one is the value
	Result  Type        `json:"result,omitzero"`
	Default bool        `json:"default,omitempty"` // its id is that of the default member
}

// A Parameter is a parameter of a Member.
type Parameter struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Optional bool   `json:"optional,omitempty"`
	Out      bool   `json:"out,omitempty"` // it only returns a value
}

// A Type is the type of a value.
type Type struct {
	// Base is "void", "bool", "int", "number", "string", "date", "variant", "object", "array" or "unknown".
	Base string `json:"base,omitempty"`
	// Bits is the size of an int, negative if it has a sign.
	Bits int `json:"bits,omitempty"`
	// Name is the enumeration of an int, or the interface of an object; empty: any.
	Name string `json:"name,omitempty"`
}

// An Enum is an enumeration.
type Enum struct {
	Name   string  `json:"name"`
	Values []Value `json:"values"`
}

// A Value is a constant of an enumeration.
type Value struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Doc   string `json:"doc,omitempty"`
}
