package descriptors_test

import (
	"encoding/xml"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// A program's introspection data, read with gdbus.
type (
	introspected struct {
		Interfaces []introspectedInterface `xml:"interface"`
	}
	introspectedInterface struct {
		Name       string               `xml:"name,attr"`
		Methods    []introspectedMethod `xml:"method"`
		Properties []struct {
			Name   string `xml:"name,attr"`
			Access string `xml:"access,attr"`
		} `xml:"property"`
	}
	introspectedMethod struct {
		Name string `xml:"name,attr"`
		Args []struct {
			Name      string `xml:"name,attr"`
			Direction string `xml:"direction,attr"`
		} `xml:"arg"`
	}
)

// agreesWithProgram checks that the program has every method and property of the descriptor, with
// arguments of the same names in the same order, or of the same number if the descriptor has args.
// The gateway itself requires less.
func (a *app) agreesWithProgram() {
	a.Helper()
	objects := map[string]*introspected{}
	for _, r := range parse(a.TB, a.id).Recipes {
		where := r.DBus.Bus + " " + r.DBus.Service + " " + r.DBus.Object
		if objects[where] == nil {
			objects[where] = a.introspect(r.DBus)
		}
		assert.Check(a, objects[where].agreesWith(r), "%s %s", a.id, r.Tool)
	}
}

// introspect introspects the program, which the bus may have to start first: gdbus waits three
// seconds for that.
func (s *session) introspect(r *aai.DBusRecipe) *introspected {
	s.Helper()
	var o introspected
	s.eventually(func() error {
		o = introspected{}
		text := s.output("gdbus", "introspect", "--"+r.Bus, "--dest", r.Service, "--object-path", r.Object, "--xml")
		if err := xml.Unmarshal([]byte(text), &o); err != nil {
			return fmt.Errorf("%s %s cannot be introspected: %w: %s", r.Service, r.Object, err, text)
		}
		return nil
	})
	return &o
}

func (o *introspected) agreesWith(r *aai.Recipe) error {
	for _, i := range o.Interfaces {
		switch {
		case i.Name != r.DBus.Interface:
		case r.DBus.Property != "":
			return i.hasProperty(r.DBus)
		default:
			return i.hasMethod(r)
		}
	}
	if r.DBus.Interface == "com.github.altdesktop.playerctld" {
		return nil // playerctld has it, but does not declare it
	}
	return fmt.Errorf("the program has no interface %s", r.DBus.Interface)
}

func (i *introspectedInterface) hasProperty(r *aai.DBusRecipe) error {
	for _, p := range i.Properties {
		if p.Name != r.Property {
			continue
		}
		if p.Access == "readwrite" || p.Access == map[string]string{"get": "read", "set": "write"}[r.Access] {
			return nil
		}
		return fmt.Errorf("the access is %q, but the program allows %q", r.Access, p.Access)
	}
	return fmt.Errorf("the program has no property %s", r.Property)
}

// hasMethod looks for a method of the name with these arguments: some programs have several.
func (i *introspectedInterface) hasMethod(r *aai.Recipe) error {
	err := fmt.Errorf("the program has no method %s", r.DBus.Method)
	for _, m := range i.Methods {
		if m.Name != r.DBus.Method {
			continue
		}
		if err = m.agreesWith(r); err == nil {
			return nil
		}
	}
	return err
}

func (m *introspectedMethod) agreesWith(r *aai.Recipe) error {
	if r.DBus.Args != nil {
		return m.takes(len(r.DBus.Args))
	}
	var names []string
	for n, arg := range m.Args {
		switch {
		case arg.Direction == "out":
		case arg.Name == "":
			names = append(names, fmt.Sprintf("arg_%d", n)) // GDBus's name for unnamed arguments
		default:
			names = append(names, arg.Name)
		}
	}
	if diff := cmp.Diff(names, append([]string(nil), r.Params...)); diff != "" {
		return fmt.Errorf("the program's arguments are - but the parameters are +:\n%s", diff)
	}
	return nil
}

// takes checks the number of the method's arguments, for a descriptor with args.
func (m *introspectedMethod) takes(said int) error {
	wanted := 0
	for _, arg := range m.Args {
		if arg.Direction != "out" {
			wanted++
		}
	}
	if wanted != said {
		return fmt.Errorf("the program takes %d arguments, the descriptor says %d", wanted, said)
	}
	return nil
}
