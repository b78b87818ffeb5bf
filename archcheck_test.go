package aai_test

import (
	"strings"
	"testing"
)

// TestImportRulesFindFaults shows the map packages that break it, each in one way.
func TestImportRulesFindFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  listing
		want string
	}{
		{"nothing wrong", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", Imports: []string{modulePath, "net/http", "golang.org/x/time/rate"}}, ""},
		{"tests of the room itself", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", XTestImports: []string{"github.com/gybob/aai-gateway/internal/policy", "pgregory.net/rapid", "github.com/gybob/aai-gateway/internal/testkit"}}, ""},
		{"the program", listing{ImportPath: "github.com/gybob/aai-gateway/cmd/aai-gateway", Imports: []string{"github.com/gybob/aai-gateway/internal/policy", "github.com/gybob/aai-gateway/internal/doors/mcp"}}, ""},
		{"built elsewhere", listing{ImportPath: "github.com/gybob/aai-gateway/internal/builtin", Error: &struct{ Err string }{"build constraints exclude all Go files in own"}}, ""},
		{"unknown room", listing{ImportPath: "github.com/gybob/aai-gateway/internal/cellar"}, "github.com/gybob/aai-gateway/internal/cellar is not on the map"},
		{"root goes out", listing{ImportPath: modulePath, Imports: []string{"github.com/gybob/aai-gateway/internal/schema"}}, "aai may not import github.com/gybob/aai-gateway/internal/schema"},
		{"root and a module", listing{ImportPath: modulePath, Imports: []string{"golang.org/x/text/width"}}, "aai may not import golang.org/x/text/width"},
		{"door to room", listing{ImportPath: "github.com/gybob/aai-gateway/internal/doors/mcp", Imports: []string{"github.com/gybob/aai-gateway/internal/policy"}}, "internal/doors/mcp may not import github.com/gybob/aai-gateway/internal/policy"},
		{"to an unknown room", listing{ImportPath: "github.com/gybob/aai-gateway/cmd/aai-gateway", Imports: []string{"github.com/gybob/aai-gateway/internal/cellar"}}, "cmd/aai-gateway may not import github.com/gybob/aai-gateway/internal/cellar"},
		{"to a test's room", listing{ImportPath: "github.com/gybob/aai-gateway/cmd/aai-gateway", Imports: []string{"github.com/gybob/aai-gateway/internal/testkit"}}, "cmd/aai-gateway may not import github.com/gybob/aai-gateway/internal/testkit"},
		{"module out of its home", listing{ImportPath: "github.com/gybob/aai-gateway/internal/doors/mcp", Imports: []string{"github.com/spf13/cobra"}}, "internal/doors/mcp may not import github.com/spf13/cobra"},
		{"module of like name", listing{ImportPath: "github.com/gybob/aai-gateway/internal/files/atomicfile", Imports: []string{"github.com/gofrs/flockers"}}, "internal/files/atomicfile may not import github.com/gofrs/flockers"},
		{"test module in code", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", Imports: []string{"pgregory.net/rapid"}}, "internal/policy may not import pgregory.net/rapid"},
		{"tests reach over", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", TestImports: []string{"github.com/gybob/aai-gateway/internal/audit"}}, "the tests of internal/policy may not import github.com/gybob/aai-gateway/internal/audit"},
		{"tests with a strange module", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", XTestImports: []string{"github.com/stretchr/testify/assert"}}, "the tests of internal/policy may not import github.com/stretchr/testify/assert"},
		{"cgo", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", Imports: []string{"C"}}, "internal/policy may not import C"},
		{"broken", listing{ImportPath: "github.com/gybob/aai-gateway/internal/policy", Error: &struct{ Err string }{"expected 'package'"}}, "github.com/gybob/aai-gateway/internal/policy cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := importViolations(importRules(), []listing{c.bad})
			switch {
			case c.want == "" && len(wrong) > 0:
				t.Errorf("found %q", wrong)
			case c.want != "" && (len(wrong) != 1 || !strings.HasPrefix(wrong[0], c.want)):
				t.Errorf("found %q, want %q", wrong, c.want)
			}
		})
	}
}
