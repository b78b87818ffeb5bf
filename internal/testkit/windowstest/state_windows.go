package windowstest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"sync"
)

// A state is the program's state, read by the test and written by the window's thread.
type state struct {
	mu     sync.Mutex
	values map[string]any
}

func newState() *state {
	return &state{values: map[string]any{
		"presses": 0, "twin": 0, "agree": false, "name": "", "password": "", "notes": "", "volume": 30, "count": 5, "colour": "Red",
		"tab": "First", "second": 0, "fruit": "", "shuffled": 0, "dialog": "", "hidden": false, "ghost": 0, "menu": "", "slow": 0,
		"clicks": []any{}, "drags": []any{}, "keys": []string{}, "focused": false,
	}}
}

// set sets a value.
func (s *state) set(key string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
}

// add adds 1 to a number and returns the sum.
func (s *state) add(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := s.values[key].(int)
	s.values[key] = n + 1
	return n + 1
}

// appendTo appends to a list and keeps its last items.
func appendTo[T any](s *state, key string, item T, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, _ := s.values[key].([]T)
	list = append(list, item)
	s.values[key] = append([]T{}, list[max(0, len(list)-most):]...)
}

// serve answers each line of the standard input by a line of JSON, and ends the process when the input ends.
func (s *state) serve() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		s.mu.Lock()
		values := maps.Clone(s.values)
		s.mu.Unlock()
		text, err := json.Marshal(values)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		fmt.Println(string(text))
	}
	os.Exit(0)
}
