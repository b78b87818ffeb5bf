package aai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A listing is the output of go list for one package and operating system.
type listing struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	IgnoredGoFiles                     []string
	Error                              *struct{ Err string }
}

// builds are the operating systems we build for, and after a + the tags: the program of the
// benchmarks, the test of dist and the double of macOS are built with one.
func builds() []string {
	return []string{"linux", "darwin", "windows", "linux+benchmarks,dist,axdouble"}
}

func TestImportRules(t *testing.T) {
	ignored := make(map[string]int)
	for _, system := range builds() {
		listings := list(t, system)
		assert.Check(t, len(listings) != 0, "%s: go list found nothing", system)
		for _, wrong := range importViolations(importRules(), listings) {
			t.Errorf("%s: %s", system, wrong)
		}
		for _, l := range listings {
			for _, file := range l.IgnoredGoFiles {
				ignored[l.ImportPath+"/"+file]++
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(ignored)) {
		assert.Check(t, ignored[file] != len(builds()), "%s is built for none of the builds() %q, so the map cannot see its imports", file, builds())
	}
}

// TestImportRulesCoverBuilds: the rules cover all builds that `make check` vets.
func TestImportRulesCoverBuilds(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	assert.NilError(t, err)
	_, line, _ := strings.Cut(string(makefile), "\nTARGETS :=")
	line, _, _ = strings.Cut(line, "\n")
	checked := make(map[string]bool)
	for _, target := range strings.Fields(line) {
		system, _, _ := strings.Cut(target, "/")
		checked[system] = true
	}
	seen := make(map[string]bool)
	for _, build := range builds() {
		system, _, _ := strings.Cut(build, "+")
		seen[system] = true
	}
	if !maps.Equal(checked, seen) {
		t.Errorf("TARGETS of the Makefile are for %q, builds() for %q", slices.Sorted(maps.Keys(checked)), slices.Sorted(maps.Keys(seen)))
	}
}

// TestImportRulesMeanModules: a replaced module would not match its name, and one without a dot
// in its name would look like the standard library.
func TestImportRulesMeanModules(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	assert.NilError(t, err)
	for line := range strings.Lines(string(mod)) {
		assert.Check(t, !strings.HasPrefix(strings.TrimSpace(line), "replace"), "go.mod: %s", line)
	}
}

func list(t *testing.T, build string) []listing {
	t.Helper()
	system, tag, _ := strings.Cut(build, "+")
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-tags="+tag, "-json=ImportPath,Imports,TestImports,XTestImports,IgnoredGoFiles,Error", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", build, err, stderr.String())
	}
	var all []listing
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listing
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list for %s: %v", build, err)
		}
		all = append(all, l)
	}
}

// importViolations returns the imports in the listings that the rules do not permit.
func importViolations(rooms []packageRules, listings []listing) []string {
	byName := make(map[string]packageRules)
	for _, r := range rooms {
		byName[r.name] = r
	}
	var wrong []string
	for _, l := range listings {
		name, _ := ourName(l.ImportPath)
		r, known := byName[name]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s is not on the map", l.ImportPath))
			continue
		}
		if l.Error != nil && !strings.Contains(l.Error.Err, "build constraints exclude all Go files") {
			wrong = append(wrong, fmt.Sprintf("%s cannot be read: %s", l.ImportPath, l.Error.Err))
		}
		for _, path := range l.Imports {
			if !r.allows(byName, path) {
				wrong = append(wrong, fmt.Sprintf("%s may not import %s (%s)", name, path, r.why))
			}
		}
		for _, path := range slices.Concat(l.TestImports, l.XTestImports) {
			if !r.allows(byName, path) && !r.testsAllow(byName, path) {
				wrong = append(wrong, fmt.Sprintf("the tests of %s may not import %s", name, path))
			}
		}
	}
	return wrong
}

// ourName returns the name of a package of this module in the rules.
func ourName(path string) (name string, ours bool) {
	if path == modulePath {
		return "aai", true
	}
	return strings.CutPrefix(path, modulePath+"/")
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && path != "C"
}

// allows reports whether the package's code may import path.
func (r packageRules) allows(rooms map[string]packageRules, path string) bool {
	if name, ours := ourName(path); ours {
		other, known := rooms[name]
		return known && !other.forTest && (slices.Contains(r.ours, name) || slices.Contains(r.ours, anything)) ||
			known && other.forTest && slices.Contains(r.ours, name)
	}
	return isStandard(path) || belongs(path, r.modules)
}

// testsAllow reports whether the package's tests may import path although its code may not.
func (r packageRules) testsAllow(rooms map[string]packageRules, path string) bool {
	name, ours := ourName(path)
	if !ours {
		return belongs(path, testModules()) || belongs(path, r.tests)
	}
	_, known := rooms[name]
	return known && (name == r.name || slices.Contains(testPackages(), name) ||
		slices.Contains(r.tests, name) || slices.Contains(r.tests, anything))
}

// belongs reports whether the package is of one of the modules.
func belongs(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		return path == module || strings.HasPrefix(path, module+"/")
	})
}

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
