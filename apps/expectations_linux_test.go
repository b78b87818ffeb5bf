package apps

import (
	"os"
	"slices"
	"strings"
)

// What is wanted of an act.

func togglesMark(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, !n.on()) }
}

func comesOn(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, true) }
}

// marked reports whether the element is on, or off. Qt gives rows other numbers every so
// often, and then the one of its name is meant.
func (s observation) marked(n node, on bool) bool {
	if now, there := s.nodes[n.ref]; there {
		return now.on() == on
	}
	for _, now := range s.nodes {
		if now.role == n.role && now.name == n.name {
			return now.on() == on
		}
	}
	return false
}

func has(r ref, text string) expectation {
	return func(_, after observation) bool { return strings.TrimSuffix(after.nodes[r].text, "\n") == text }
}

func counts(r ref, value float64) expectation {
	return func(_, after observation) bool { return after.nodes[r].value == value }
}

// opens wants a window whose title has the part.
func opens(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) > titled(before, part) }
}

// closes wants that a window with the part in its title has gone.
func closes(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) < titled(before, part) }
}

func titled(s observation, part string) (n int) {
	for _, title := range s.windows {
		if strings.Contains(title, part) {
			n++
		}
	}
	return n
}

// shows wants that something of this role shows, with the text as its name or in it; without
// a role, anything but a button that is called so.
func shows(role, text string) expectation {
	return func(_, after observation) bool {
		for _, n := range after.nodes {
			if role == "" && n.role != "push button" && n.name == text {
				return true
			}
			if n.role == role && (strings.Contains(n.name, text) || strings.Contains(n.text, text)) {
				return true
			}
		}
		return false
	}
}

// keeps wants the text in a file: one of words alone has nothing else in it.
func keeps(file, text string) expectation {
	return func(observation, observation) bool {
		b, err := os.ReadFile(file)
		if strings.HasSuffix(file, ".txt") {
			return err == nil && strings.ReplaceAll(string(b), "\n", "") == text
		}
		return err == nil && strings.Contains(string(b), text)
	}
}

// onDisk wants that there is such a file, or none.
func onDisk(file string, there bool) expectation {
	return func(observation, observation) bool {
		_, err := os.Stat(file)
		return (err == nil) == there
	}
}

// eachOf wants all of it.
func eachOf(wants ...expectation) expectation {
	return func(before, after observation) bool {
		return !slices.ContainsFunc(wants, func(w expectation) bool { return !w(before, after) })
	}
}

// togglesNamed wants that what has the role and the name is on that was off, or the other way round.
func togglesNamed(role, name string) expectation {
	return func(before, after observation) bool {
		for r, n := range before.nodes {
			if now, there := after.nodes[r]; there && n.role == role && n.name == name && now.on() != n.on() {
				return true
			}
		}
		return false
	}
}

// seen wants that what is called so shows.
func seen(role, name string) expectation {
	return func(before, after observation) bool {
		for _, n := range after.nodes {
			if n.role == role && n.name == name && n.is(showing) {
				return true
			}
		}
		return false
	}
}
