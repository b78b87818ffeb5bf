package catalog

import (
	"reflect"
	"strings"
	"testing"

	"aai"
)

// Every way that a recipe can say has its row.
func TestEveryRecipeHasAKind(t *testing.T) {
	names := make(map[string]bool)
	for _, k := range kinds() {
		if k.name == "" || names[k.name] || k.is == nil || k.runs == nil || k.platform != "" && k.read == nil {
			t.Errorf("the row of %q is not whole, or there are two", k.name)
		}
		names[k.name] = true
	}
	recipe := reflect.TypeFor[aai.Recipe]()
	for i := range recipe.NumField() {
		field := recipe.Field(i)
		if field.Type.Kind() != reflect.Pointer {
			continue
		}
		r := &aai.Recipe{}
		reflect.ValueOf(r).Elem().Field(i).Set(reflect.New(field.Type.Elem()))
		if r.Script != nil {
			r.Script.Language = "jxa"
		}
		if k := kindOf(kinds(), r); k.name == "" {
			t.Errorf("no kind has %s", field.Name)
		}
	}
}

// A row is all that the catalog needs of a new kind.
func TestToyKind(t *testing.T) {
	toy := kind{
		name: "toy", platform: "linux", read: scriptIn("toy"),
		is:     func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "toy" },
		effect: func(*aai.Recipe) aai.Effect { return aai.Changes },
		runs:   func(r *aai.Recipe) string { return "plays " + r.Script.Script },
	}
	var d recorder
	r := &reader{kinds: append(kinds(), toy)}
	got, faults := r.parse([]byte(strings.NewReplacer(`"dbus"`, `"toy"`, `"method": "DoIt"`, `"script": "${path}"`).Replace(fiveTools(1))),
		Options{Host: "linux", Drivers: drivers(&d, "toy")})
	if err := faults.err(); err != nil || len(got.App.Tools) != 5 {
		t.Fatal(err, faults)
	}
	tool := got.App.Tools[0]
	if tool.Run == nil || tool.Effect != aai.Changes || !tool.Natural || tool.Runs != "plays ${path}" || got.Recipes[0].Kind != "toy" {
		t.Errorf("%+v of %+v", tool, got.Recipes[0])
	}
}
