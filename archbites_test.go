package aai_test

import (
	"strings"
	"testing"
)

// TestTheMapBites shows the map packages that break it, each in one way.
func TestTheMapBites(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  listing
		want string
	}{
		{"nothing wrong", listing{ImportPath: "aai/internal/policy", Imports: []string{"aai", "net/http", "golang.org/x/time/rate"}}, ""},
		{"tests of the room itself", listing{ImportPath: "aai/internal/policy", XTestImports: []string{"aai/internal/policy", "pgregory.net/rapid", "aai/internal/drivers/dbus/dbustest"}}, ""},
		{"the program", listing{ImportPath: "aai/cmd/aai-gateway", Imports: []string{"aai/internal/policy", "aai/internal/doors/mcp"}}, ""},
		{"built elsewhere", listing{ImportPath: "aai/internal/own", Error: &struct{ Err string }{"build constraints exclude all Go files in own"}}, ""},
		{"unknown room", listing{ImportPath: "aai/internal/cellar"}, "aai/internal/cellar is not on the map"},
		{"root goes out", listing{ImportPath: "aai", Imports: []string{"aai/internal/schema"}}, "aai may not import aai/internal/schema"},
		{"root and a module", listing{ImportPath: "aai", Imports: []string{"golang.org/x/text/width"}}, "aai may not import golang.org/x/text/width"},
		{"door to room", listing{ImportPath: "aai/internal/doors/mcp", Imports: []string{"aai/internal/policy"}}, "internal/doors/mcp may not import aai/internal/policy"},
		{"to an unknown room", listing{ImportPath: "aai/cmd/aai-gateway", Imports: []string{"aai/internal/cellar"}}, "cmd/aai-gateway may not import aai/internal/cellar"},
		{"to a test's room", listing{ImportPath: "aai/cmd/aai-gateway", Imports: []string{"aai/internal/drivers/dbus/dbustest"}}, "cmd/aai-gateway may not import aai/internal/drivers/dbus/dbustest"},
		{"module out of its home", listing{ImportPath: "aai/internal/doors/mcp", Imports: []string{"github.com/spf13/cobra"}}, "internal/doors/mcp may not import github.com/spf13/cobra"},
		{"module of like name", listing{ImportPath: "aai/internal/wholefile", Imports: []string{"github.com/gofrs/flockers"}}, "internal/wholefile may not import github.com/gofrs/flockers"},
		{"test module in code", listing{ImportPath: "aai/internal/policy", Imports: []string{"pgregory.net/rapid"}}, "internal/policy may not import pgregory.net/rapid"},
		{"tests reach over", listing{ImportPath: "aai/internal/policy", TestImports: []string{"aai/internal/journal"}}, "the tests of internal/policy may not import aai/internal/journal"},
		{"tests with a strange module", listing{ImportPath: "aai/internal/policy", XTestImports: []string{"github.com/stretchr/testify/assert"}}, "the tests of internal/policy may not import github.com/stretchr/testify/assert"},
		{"cgo", listing{ImportPath: "aai/internal/policy", Imports: []string{"C"}}, "internal/policy may not import C"},
		{"broken", listing{ImportPath: "aai/internal/policy", Error: &struct{ Err string }{"expected 'package'"}}, "aai/internal/policy cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := trespasses(theMap(), []listing{c.bad})
			switch {
			case c.want == "" && len(wrong) > 0:
				t.Errorf("found %q", wrong)
			case c.want != "" && (len(wrong) != 1 || !strings.HasPrefix(wrong[0], c.want)):
				t.Errorf("found %q, want %q", wrong, c.want)
			}
		})
	}
}
