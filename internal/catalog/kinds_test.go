package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestEveryRecipeHasAKind checks that every type of recipe has a kind.
func TestEveryRecipeHasAKind(t *testing.T) {
	names := make(map[string]bool)
	for _, k := range kinds() {
		assert.Assert(t, k.name != "", "the row of %q is not whole, or there are two", k.name)
		assert.Assert(t, !names[k.name], "the row of %q is not whole, or there are two", k.name)
		assert.Assert(t, k.matches != nil, "the row of %q is not whole, or there are two", k.name)
		assert.Assert(t, k.describe != nil, "the row of %q is not whole, or there are two", k.name)
		assert.Assert(t, k.write != nil, "the row of %q is not whole, or there are two", k.name)
		assert.Assert(t, k.platform == "" || k.read != nil, "the row of %q is not whole, or there are two", k.name)
		names[k.name] = true
		assert.Check(t, is.Equal(k.name == "applescript" || k.name == "jxa", (k.limitKind == aai.KindScript)), "%s is known to modes as %q", k.name, k.limitKind)
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
		assert.Check(t, kindOf(kinds(), r).name != "", "no kind has %s", field.Name)
	}
}

// TestExecutionImpliesThePlatform: an execution type of one platform implies it, and excludes others.
func TestExecutionImpliesThePlatform(t *testing.T) {
	implied := map[string]string{"http": "web", "dbus": "linux", "apple-events": "macos", "com": "windows"}
	for _, e := range (&parser{kinds: kinds()}).executions() {
		source := `{"schema_version": "1.0", "app": {"id": "org.example.App", "name": "App", "description": "An app."}, "tools": [],
			"execution": {"type": "` + e.name + `", "base_url": "https://api.example.com"}}`
		d, faults := new(reader).parse([]byte(source), Options{})
		want := implied[e.name]
		assert.Check(t, is.Equal(d.App.Platform, want), "%s %v", e.name, faults)
		assert.Check(t, is.Equal((len(faults.List) > 0), (e.name == "ipc" || e.name == "mcp")), "%s %v", e.name, faults)
		other := strings.Replace(source, `"tools"`, `"platform": "ios", "tools"`, 1)
		_, faults = new(reader).parse([]byte(other), Options{})
		assert.Check(t, (len(faults.List) == 0) != (implied[e.name] != "" || e.name == "ipc" || e.name == "mcp"), "%s for ios: %v", e.name, faults)
	}
}

// TestToyKind checks that an entry in kinds is all that a new kind needs.
func TestToyKind(t *testing.T) {
	toy := kind{
		name: "toy", platform: "linux", read: scriptIn("toy"), execution: scriptIn("toy"),
		matches:  func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "toy" },
		effect:   func(*aai.Recipe) aai.Effect { return aai.Changes },
		describe: func(r *aai.Recipe) string { return "plays " + r.Script.Script },
	}
	var d recorder
	r := &reader{kinds: append(kinds(), toy)}
	got, faults := r.parse([]byte(strings.NewReplacer(`"dbus"`, `"toy"`, `"method": "DoIt"`, `"script": "${path}"`).Replace(fiveTools(1))),
		Options{HostPlatform: "linux", Drivers: drivers(&d, "toy")})
	err := faults.err()
	assert.Assert(t, err == nil, "%v %v", err, faults)
	assert.Assert(t, is.Len(got.App.Tools, 5), "%v %v", err, faults)
	tool := got.App.Tools[0]
	if tool.Run == nil || tool.Effect != aai.Changes || !tool.Assessment(nil).EffectInherent || tool.Implementation.Summary != "plays ${path}" || got.Recipes[0].Kind != "toy" {
		t.Errorf("%+v of %+v", tool, got.Recipes[0])
	}
	got, faults = r.parse([]byte(`{"schema_version": "1.0", "app": {"id": "a.b", "name": "N", "description": "D"}, "execution": {"type": "toy"},
		"tools": [{"name": "t", "execution": {"script": "s"}}]}`), Options{HostPlatform: "linux", Drivers: drivers(&d, "toy")})
	if err := faults.err(); err != nil || got.App.Platform != "linux" || got.App.Tools[0].Implementation.Summary != "plays s" {
		t.Errorf("as an execution: %+v, %v", got.App, faults)
	}
}

// TestTemplatesOfCOM checks that parameters in COM steps count as used.
func TestTemplatesOfCOM(t *testing.T) {
	r := &aai.Recipe{Kind: "com", COM: &aai.COMRecipe{Steps: []aai.COMStep{{Args: []json.RawMessage{[]byte(`"${a}"`)}, Value: []byte(`"${b}"`)}}}}
	texts, _ := PlaceholderTexts(r)
	all := strings.Join(texts, " ")
	assert.Assert(t, is.Contains(all, "${a}"))
	assert.Assert(t, is.Contains(all, "${b}"))
}
