package desktop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	otLine = regexp.MustCompile(`^( *)([a-z]+)(?: "((?:[^"\\]|\\.)*)")?(.*)$`)
	otAttr = regexp.MustCompile(`([a-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|(\S+)))?`)
)

// otSnapshot builds a snapshot from lines such as
//
//	checkbox "Agree" checkable checked value="x" id="y" desc="z" range=0..9 hidden disabled
//
// indented by two spaces a level. Elements show and are enabled unless they say
// otherwise; IDs are paths of roles and places, or what key says.
func otSnapshot(t testing.TB, text string) *Snapshot {
	t.Helper()
	s := &Snapshot{App: App{Key: ":1.7", Name: "Test"}, Version: 1}
	places := map[ID]int{}
	var path []int
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := otLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			t.Fatalf("bad line %q", line)
		}
		depth := len(m[1]) / 2
		e := Element{Role: Role(m[2]), Name: otUnquote(m[3]), States: Showing | Enabled, Parent: -1}
		if depth > 0 {
			e.Parent = path[depth-1]
			e.ID = s.Elements[e.Parent].ID
		}
		e.ID += "/" + ID(e.Role)
		places[e.ID]++
		e.ID += ID(strconv.Itoa(places[e.ID]))
		otAttributes(t, &e, m[4])
		path = append(path[:depth], len(s.Elements))
		s.Elements = append(s.Elements, e)
	}
	Arrange(s.Elements)
	return s
}

func otUnquote(s string) string {
	text, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return text
}

func otAttributes(t testing.TB, e *Element, text string) {
	for _, m := range otAttr.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "hidden":
			e.States &^= Showing
		case "disabled":
			e.States &^= Enabled
		case "value":
			e.Value = otUnquote(m[2])
		case "desc":
			e.Description = otUnquote(m[2])
		case "id":
			e.Identifier = otUnquote(m[2])
		case "key":
			e.ID = ID(m[3])
		case "does":
			e.Actions = strings.Split(m[3], ",")
		case "unread":
			e.Unread, _ = strconv.Atoi(m[3])
		case "frame":
			_, _ = fmt.Sscanf(m[3], "%d,%d,%d,%d", &e.Frame.X, &e.Frame.Y, &e.Frame.W, &e.Frame.H)
		case "size":
			e.Size, _ = strconv.Atoi(m[3])
		case "range":
			low, high, _ := strings.Cut(m[3], "..")
			e.Min, _ = strconv.ParseFloat(low, 64)
			e.Max, _ = strconv.ParseFloat(high, 64)
		default:
			state := StateNamed(m[1])
			if state == 0 {
				t.Fatalf("no attribute %q", m[1])
			}
			e.States |= state
		}
	}
}

// otPages takes all pages of an outline.
func otPages(t testing.TB, s *Snapshot, o OutlineOptions) []Page {
	t.Helper()
	var pages []Page
	for {
		p, err := Outline(s, o)
		if err != nil {
			t.Fatalf("page %d: %v", len(pages)+1, err)
		}
		pages = append(pages, p)
		if p.More == "" {
			return pages
		}
		if len(pages) > 3*len(s.Elements)+3 {
			t.Fatalf("%d pages for %d elements", len(pages), len(s.Elements))
		}
		o.After = p.More
	}
}

func otText(t testing.TB, s *Snapshot, o OutlineOptions) string {
	t.Helper()
	p, err := Outline(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Text
}

// otGolden compares with a file in testdata; UPDATE_GOLDEN=1 writes it.
func otGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "outline", name+".golden")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
