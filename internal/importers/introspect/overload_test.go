package introspect_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestOverloadsAreGeneratedAndCalled: each method of one name becomes a tool, which calls that method.
func TestOverloadsAreGeneratedAndCalled(t *testing.T) {
	w := newWorld(t)
	testkit.ServeDescribed(t, w.bus, "org.example.Osd", testkit.Overloads)
	app := w.app(w.draft(introspect.Request{App: "org.example.Osd"}))
	for name, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"volume_changed":                 {map[string]any{"percent": 5}, "volumeChanged(i)"},
		"volume_changed_maximum_percent": {map[string]any{"percent": 5, "maximum_percent": 9}, "volumeChanged(ii)"},
		"send_message":                   {map[string]any{"message": "m", "attachments": []any{}, "recipient": "r"}, "sendMessage(sass)"},
		"send_message_recipients":        {map[string]any{"message": "m", "attachments": []any{}, "recipients": []any{}}, "sendMessage(sasas)"},
		"device_names":                   {nil, "deviceNames()"},
		"device_names_only_reachable":    {map[string]any{"only_reachable": true}, "deviceNames(b)"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := app.Tool(name)
			assert.Assert(t, tool != nil, "there is no such tool")
			result, err := tool.Run(t.Context(), &aai.Call{Args: c.args})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(result.Data, c.want))
		})
	}
}

// TestToolsLimit: each type that decoders give to a number limits the tools.
func TestToolsLimit(t *testing.T) {
	w := newWorld(t)
	testkit.ServeDescribed(t, w.bus, "org.example.Osd", testkit.Overloads)
	for _, limit := range []any{2, int64(2), 2.0} {
		t.Run(fmt.Sprintf("%T", limit), func(t *testing.T) {
			got, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.Osd", "tools": limit})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got["tools"], 2.0))
		})
	}
}

// TestDifferenceInFull: a long difference is cut, and shown as a whole if the call asks for it.
func TestDifferenceInFull(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `<method name="M%d"><arg name="a" type="s"/><arg name="b" type="i"/></method>`, i)
	}
	testkit.ServeDescribed(t, w.bus, "org.example.Osd", `<node><interface name="org.example.Osd">`+b.String()+`</interface></node>`)
	for full, want := range map[bool]bool{false: false, true: true} {
		t.Run(fmt.Sprint(full), func(t *testing.T) {
			got, err := w.answerOf(introspect.GenerateTool, map[string]any{"app": "org.example.Osd", "full": full})
			assert.NilError(t, err)
			whole := strings.HasSuffix(fmt.Sprint(got["diff"]), "\n+}\n")
			assert.Check(t, is.Equal(whole, want), "the difference is whole: %t; want %t", whole, want)
		})
	}
}

// TestForbiddenServices: a service that no descriptor may reach is named as such, whether it runs or not.
func TestForbiddenServices(t *testing.T) {
	w := newWorld(t)
	testkit.ServeDescribed(t, w.bus, "org.gnome.Terminal", testkit.Overloads)
	for name, service := range map[string]string{"runs": "org.gnome.Terminal", "does not run": "org.freedesktop.secrets"} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Draft(t.Context(), introspect.Request{App: service})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.PermissionDenied, err)
			assert.Assert(t, is.Contains(e.Message, service+" can never be reached"), err)
		})
	}
}
