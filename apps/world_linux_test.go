package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

const (
	patience     = 2 * time.Minute        // limit for effects; generous for busy computers
	effectWait   = 3 * time.Second        // time for an act's effect
	pollInterval = 50 * time.Millisecond  // interval of checks
	refusalWait  = 600 * time.Millisecond // time without effects after a refusal

	actingSign = "aai-gateway: an agent acts" // the window that the gateway shows meanwhile
)

// stage is a private desktop with one program, an agent's gateway, and the witness.
type stage struct {
	*testing.T
	*linuxtest.Session
	program program
	app     *linuxtest.App
	folder  string // of the documents
	gateway string // the binary
	env     []string
	agent   *mcp.ClientSession
	witness atspiWitness
	random  *rand.Rand
	tally   *actTally
	page    *page
	done    bool // the last act
}

// open starts the program, with the witness listening from before its first window. It grants acts
// on the program and the others.
func open(t *testing.T, p program, gateway string, others ...string) *stage {
	t.Helper()
	s := &stage{T: t, Session: startSession(t), program: p, gateway: gateway, folder: t.TempDir(),
		random: rand.New(rand.NewPCG(14, uint64(len(p.name)))), tally: &actTally{program: p.name, toolkit: p.toolkit, kinds: make(map[string]int)}}
	s.Env = append(s.Env, unpacked(t)...)
	bus, err := dbus.Connect(s.A11yAddress(t))
	assert.NilError(t, err)
	t.Cleanup(func() { _ = bus.Close() })
	s.witness = atspiWitness{bus, p.witness, p.toolkit == "GTK 4"}
	s.Launch(t, "/usr/bin/python3", "-c", listener)
	s.serve(append(others, cmp.Or(p.grant, p.name)))
	s.app = p.start(s) // nil if the gateway started it
	s.eventually(p.name+" shows "+p.ready, func() bool {
		s.checkRunning()
		if p.ready == "" { // it exposes nothing
			return len(s.windows()) > 0
		}
		return slices.ContainsFunc(s.witness.tree(false), func(n node) bool { return n.called(p.ready) })
	})
	return s
}

// checkRunning fails if the test's program has ended.
func (s *stage) checkRunning() {
	s.Helper()
	if s.app == nil {
		return
	}
	select {
	case <-s.app.Done():
		s.Fatalf("%s has ended: %v", s.program.name, s.app.AwaitEnd())
	default:
	}
}

// unpacked returns the variables for programs of scripts/need-apps at their place.
func unpacked(t *testing.T) []string {
	t.Helper()
	root, err := filepath.Abs("../.cache/apps")
	assert.NilError(t, err)
	usr := filepath.Join(root, "usr")
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:" + filepath.Join(usr, "bin"),
		"LD_LIBRARY_PATH=" + filepath.Join(usr, "lib", "x86_64-linux-gnu"),
		"XDG_DATA_DIRS=/usr/local/share:/usr/share:" + filepath.Join(usr, "share"),
		"GSETTINGS_SCHEMA_DIR=" + filepath.Join(usr, "share", "glib-2.0", "schemas"),
		"AAI_APPS_FOLDER=" + root,
	}
}

// serve starts the gateway as an agent's client does, with a grant for acts on the apps.
func (s *stage) serve(apps []string) {
	s.Helper()
	grants := ""
	for _, app := range apps {
		grants += fmt.Sprintf(`{"app": "desktop/%s", "tools": ["*", "run"], "caller": "*", "expires": "2100-01-01T00:00:00Z"}, `, app)
	}
	config := fmt.Sprintf(`{"consent": {"preapproved": [%s{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2100-01-01T00:00:00Z"}]}, "rate_limits": {"declared_rps": 100000, "declared_rpm": 1000000, "rps": 100000, "rpm": 1000000}}`, grants)
	folder := filepath.Join(s.Home, ".aai")
	assert.NilError(s, os.MkdirAll(folder, 0o700))
	assert.NilError(s, os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600))
	s.env = s.Env
	command := exec.CommandContext(s.Context(), s.gateway, "mcp", "serve", "--profile", "desktop")
	command.Env, command.Stderr = s.env, s.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	var err error
	s.agent, err = client.Connect(s.Context(), &mcp.CommandTransport{Command: command}, nil)
	assert.NilError(s, err)
	s.Cleanup(func() { _ = s.agent.Close() })
}

// params are the arguments of a call.
type params map[string]any

// reply is the gateway's answer to an act.
type reply struct {
	Failed   bool
	Code     string `json:"type"`
	Delivery string `json:"delivery"`
	Result   struct{ Verified, Done, Success bool }
	Text     string
}

// refused reports whether the act did not reach the program.
func (r reply) refused() bool { return r.Failed && (r.Delivery == "not_delivered" || r.Delivery == "") }

// isVerified reports whether the gateway confirmed the effect.
func (r reply) isVerified() bool { return r.Result.Verified || r.Result.Done || r.Result.Success }

// call makes a call by MCP, or every so often by the command line.
func (s *stage) call(tool string, p params) reply {
	s.Helper()
	p = maps.Clone(p)
	if tool != "ax_clipboard" {
		p["app"] = cmp.Or(s.program.grant, s.program.name)
	}
	if s.random.IntN(8) == 0 {
		return s.byCommandLine(tool, p)
	}
	return s.byMCP(tool, p)
}

// byAgent is a call by MCP.
func (s *stage) byAgent(tool string, p params) reply {
	s.Helper()
	p["app"] = cmp.Or(s.program.grant, s.program.name)
	return s.byMCP(tool, p)
}

func (s *stage) byMCP(tool string, p params) reply {
	s.Helper()
	result, err := s.agent.CallTool(s.Context(), &mcp.CallToolParams{Name: tool, Arguments: p})
	assert.NilError(s, err, "%s %v", tool, p)
	r := reply{Failed: result.IsError}
	b, _ := json.Marshal(result.StructuredContent)
	_, _ = json.Unmarshal(b, &r), json.Unmarshal(b, &r.Result)
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			r.Text += text.Text
		}
	}
	if result.StructuredContent == nil { // a text alone says it in words
		r.Result.Verified = !strings.Contains(r.Text, "delivered, but ") && !strings.Contains(r.Text, "it is not selected")
	}
	return r
}

// byCommandLine makes a call with the program's command line.
func (s *stage) byCommandLine(tool string, p params) reply {
	s.Helper()
	b, err := json.Marshal(p)
	assert.NilError(s, err)
	command := exec.CommandContext(s.Context(), s.gateway, "exec", "desktop", tool, "--format", "json", string(b))
	command.Env, command.Dir = s.env, s.Home
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	r := reply{Failed: err != nil, Text: string(out) + said.String()}
	_ = json.Unmarshal(out, &r)
	if _, at, failed := strings.Cut(r.Text, `{"error":`); failed {
		_ = json.NewDecoder(strings.NewReader(at)).Decode(&r)
	}
	return r
}

// windows returns the titles of the visible windows but the sign, by xdotool, which prints nothing if one
// closes meanwhile.
func (s *stage) windows() (titles []string) {
	s.Helper()
	if s.isWayland() {
		titles = s.swayWindows()
		slices.Sort(titles)
		return titles
	}
	const looks = 3
	for range looks {
		for id := range strings.FieldsSeq(s.run("xdotool", "search", "--onlyvisible", "--name", ".")) {
			if title := strings.TrimSuffix(s.run("xdotool", "getwindowname", id), "\n"); title != "" && title != "Openbox" && title != actingSign {
				titles = append(titles, title)
			}
		}
		if len(titles) > 0 {
			break
		}
		time.Sleep(pollInterval)
	}
	slices.Sort(titles)
	return titles
}

// run runs a program on the desktop and returns what it printed.
func (s *stage) run(name string, args ...string) string {
	s.Helper()
	command := exec.CommandContext(s.Context(), name, args...)
	command.Env, command.Dir = s.Env, s.Home
	out, _ := command.Output() // xdotool fails if a window closes meanwhile
	return string(out)
}

// types presses keys as the user.
func (s *stage) types(keys ...string) {
	s.Helper()
	s.run("xdotool", append([]string{"key", "--delay", "20"}, keys...)...)
}

// file returns the path of a document.
func (s *stage) file(name string) string { return filepath.Join(s.folder, name) }

// document creates a document and returns its path.
func (s *stage) document(name, text string) string {
	s.Helper()
	assert.NilError(s, os.WriteFile(s.file(name), []byte(text), 0o600))
	return s.file(name)
}

func (s *stage) eventually(what string, ready func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !ready(); time.Sleep(pollInterval) {
		if time.Now().After(end) {
			s.Fatalf("after %s it is still not so: %s; windows %q, shown %s", patience, what, s.windows(), brief(s.witness.tree(false)))
		}
	}
}

// brief summarizes the visible elements in a line.
func brief(nodes []node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%s %q; ", n.role, n.name)
	}
	return b.String()
}

// build builds the gateway as released, but it accepts the test home's settings without
// confirmation.
func build(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("AAI_APPS_GATEWAY"); built != "" {
		return built
	}
	program := filepath.Join(t.TempDir(), "aai-gateway")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "benchmarks", "-o", program, "github.com/gybob/aai-gateway/cmd/aai-gateway")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := command.CombinedOutput()
	assert.NilError(t, err, out)
	return program
}
