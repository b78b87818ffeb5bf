package introspect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// A source is the introspection data of a program, in an order that does not depend on its
// replies. It contains no state: two reads of the same program version are equal.
type source struct {
	Bus      string   `json:"bus"`
	Services []string `json:"services"` // the main one first
	Entry    *entry   `json:"entry,omitempty"`
	Objects  []object `json:"objects"`
}

// An object is a D-Bus object of a service.
type object struct {
	Service    string   `json:"service"`
	Path       string   `json:"path"`
	Interfaces []iface  `json:"interfaces,omitempty"`
	Actions    []action `json:"actions,omitempty"` // of org.gtk.Actions
	Main       []action `json:"main,omitempty"`    // of org.kde.KMainWindow
	children   []string
}

type iface struct {
	Name       string     `json:"name"`
	Doc        string     `json:"doc,omitempty"`
	Methods    []method   `json:"methods,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type method struct {
	Name       string     `json:"name"`
	Doc        string     `json:"doc,omitempty"`
	Ins        []argument `json:"ins,omitempty"`
	Outs       []argument `json:"outs,omitempty"`
	Deprecated bool       `json:"deprecated,omitempty"`
	fault      string     // why it cannot be called
}

// signature returns the signature of the method's arguments.
func (m *method) signature() string {
	var b strings.Builder
	for _, in := range m.Ins {
		b.WriteString(in.Type)
	}
	return b.String()
}

// overloads returns the methods of the name, which differ in their arguments.
func (f *iface) overloads(name string) (list []*method) {
	for i := range f.Methods {
		if f.Methods[i].Name == name {
			list = append(list, &f.Methods[i])
		}
	}
	return list
}

type argument struct {
	Name string `json:"name,omitempty"`
	Type string `json:"type"`
	Doc  string `json:"doc,omitempty"`
}

type property struct {
	Name       string `json:"name"`
	Doc        string `json:"doc,omitempty"`
	Type       string `json:"type"`
	Readable   bool   `json:"readable"`
	Writable   bool   `json:"writable"`
	Deprecated bool   `json:"deprecated,omitempty"`
	fault      string
}

// An action is an action of a program's menus or shortcuts.
type action struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // in the person's language
	Param string `json:"param,omitempty"` // signature of its parameter
	State string `json:"state,omitempty"` // signature of its state, if it can be determined
	// Choices are the values that the menus pass to it.
	Choices []choice `json:"choices,omitempty"`
}

// A choice is a possible value of an action's parameter.
type choice struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

// digest returns a digest of the introspection data.
func (s *source) digest() (string, error) {
	same := *s // without process numbers
	same.Services, same.Objects = nil, slices.Clone(s.Objects)
	for _, name := range s.Services {
		same.Services = append(same.Services, stripInstance(name))
	}
	for i := range same.Objects {
		same.Objects[i].Service = stripInstance(same.Objects[i].Service)
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
