package snapshottest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Rows reads the rows of a test from a JSON file in testdata.
func Rows[R any](t testing.TB, file string) (rows []R) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rows
}
