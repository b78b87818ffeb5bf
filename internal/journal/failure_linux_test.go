package journal

import "testing"

// A folder that may not be written to, not even by root.
func TestReadOnlyFolder(t *testing.T) {
	for _, path := range []string{"/proc/audit.jsonl", "/proc/aai/audit.jsonl"} {
		if err := New(path).Record(t.Context(), received("c1")); err == nil {
			t.Errorf("%s: recorded", path)
		}
	}
}
