package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if read["platform"] != host || read["platforms"] != nil || read["appId"] != "org.example.Many" || read["name"] != "Many" || len(read["tools"].([]any)) != 1 {
			t.Errorf("%s: %s", host, got)
		}
		if strings.Contains(string(got), "tell") != (host == "macos") || strings.Contains(string(got), "dbus") != (host == "linux") {
			t.Errorf("%s: %s", host, got)
		}
		if z, a := strings.Index(string(got), `"z"`), strings.Index(string(got), `"a"`); z > a {
			t.Errorf("the order of the parameters is lost: %s", got)
		}
	}
	single := `{"schema_version": "1.0", "version": "1.0", "platform": "linux", "app": {"id": "org.example.One", "name": "One", "description": "O."}, "execution": {"type": "ipc"}, "tools": []}`
	app := mustParse(t, single, Options{HostPlatform: "linux"}).App
	if diff := cmp.Diff(single, string(DescriptorForPlatform(app))); diff != "" {
		t.Error(diff)
	}
}
