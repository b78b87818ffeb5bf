package snapshottest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	lineForm      = `^( *)([a-z]+)(?: "((?:[^"\\]|\\.)*)")?(.*)$`
	attributeForm = `([a-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|(\S+)))?`
)

// Read builds a snapshot from lines such as
//
//	checkbox "Agree" checkable checked value="x" id="y" desc="z" range=0..9 pos=3 size=8 hidden disabled
//
// indented by two spaces per level. Elements are showing and enabled unless stated otherwise; IDs are paths
// of roles and positions, or the value of key.
func Read(t testing.TB, text string) *desktop.Snapshot {
	t.Helper()
	s := &desktop.Snapshot{App: desktop.App{Key: ":1.7", Name: "Test"}, Version: 1}
	places := map[desktop.ID]int{}
	var path []int
	wholeLine, attribute := regexp.MustCompile(lineForm), regexp.MustCompile(attributeForm)
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := wholeLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			t.Fatalf("bad line %q", line)
		}
		depth := len(m[1]) / 2
		e := desktop.Element{Role: desktop.Role(m[2]), Name: unquoted(m[3]), States: desktop.Showing | desktop.Enabled, Parent: -1}
		if depth > 0 {
			e.Parent = path[depth-1]
			e.ID = s.Elements[e.Parent].ID
		}
		e.ID += "/" + desktop.ID(e.Role)
		places[e.ID]++
		e.ID += desktop.ID(strconv.Itoa(places[e.ID]))
		attributes(t, &e, attribute.FindAllStringSubmatch(m[4], -1))
		path = append(path[:depth], len(s.Elements))
		s.Elements = append(s.Elements, e)
	}
	desktop.SetEnds(s.Elements)
	return s
}

func unquoted(s string) string {
	text, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return text
}

func attributes(t testing.TB, e *desktop.Element, found [][]string) {
	t.Helper()
	for _, m := range found {
		switch m[1] {
		case "hidden":
			e.States &^= desktop.Showing
		case "disabled":
			e.States &^= desktop.Enabled
		case "value":
			e.Value = unquoted(m[2])
		case "desc":
			e.Description = unquoted(m[2])
		case "id":
			e.Identifier = unquoted(m[2])
		case "key":
			e.ID = desktop.ID(m[3])
		case "does":
			e.Actions = strings.Split(m[3], ",")
		case "unread":
			e.UnreadChildren, _ = strconv.Atoi(m[3])
		case "frame":
			_, _ = fmt.Sscanf(m[3], "%d,%d,%d,%d", &e.Frame.X, &e.Frame.Y, &e.Frame.W, &e.Frame.H)
		case "pos":
			e.Pos, _ = strconv.Atoi(m[3])
		case "size":
			e.Size, _ = strconv.Atoi(m[3])
		case "range":
			low, high, _ := strings.Cut(m[3], "..")
			e.Min, _ = strconv.ParseFloat(low, 64)
			e.Max, _ = strconv.ParseFloat(high, 64)
		default:
			state := desktop.ParseState(m[1])
			if state == 0 {
				t.Fatalf("no attribute %q", m[1])
			}
			e.States |= state
		}
	}
}
