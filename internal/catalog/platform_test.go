package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestOnPlatform(t *testing.T) {
	const tool = `{"name": "go", "description": "G.", "parameters": {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}, `
	source := "\xef\xbb\xbf" + `{"schema_version": "1.0", "appId": "org.example.Many", "platforms": {
		"macos": {"automation": "applescript", "tools": [` + tool + `"script": "tell ${z} ${a}"}]},
		"linux": {"automation": "dbus", "service": "org.example.Many", "object": "/o", "interface": "org.example.Many", "name": "not that", "tools": [` + tool + `"method": "Go"}]}},
		"name": "Many", "description": "M.", "version": "1.0"}`
	for _, host := range []string{"linux", "macos"} {
		app := mustParse(t, source, Options{HostPlatform: host}).App
		got := DescriptorForPlatform(app)
		var read map[string]any
		assert.NilError(t, json.Unmarshal(got, &read), got)
		assert.Equal(t, read["platform"], host, got)
		assert.Assert(t, read["platforms"] == nil, got)
		assert.Equal(t, read["appId"], "org.example.Many", got)
		assert.Equal(t, read["name"], "Many", got)
		assert.Assert(t, is.Len(read["tools"].([]any), 1), got)
		assert.Check(t, is.Equal(strings.Contains(string(got), "tell"), (host == "macos")), "%s %s", host, got)
		assert.Check(t, is.Equal(strings.Contains(string(got), "dbus"), (host == "linux")), "%s %s", host, got)
		z, a := strings.Index(string(got), `"z"`), strings.Index(string(got), `"a"`)
		assert.Check(t, z <= a, "the order of the parameters is lost: %s", got)
	}
	single := `{"schema_version": "1.0", "version": "1.0", "platform": "linux", "app": {"id": "org.example.One", "name": "One", "description": "O."}, "execution": {"type": "ipc"}, "tools": []}`
	app := mustParse(t, single, Options{HostPlatform: "linux"}).App
	assert.Check(t, is.DeepEqual(single, string(DescriptorForPlatform(app))))
}
