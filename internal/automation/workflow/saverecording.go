package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// completeRecording returns the workflow of a recording, which need not be complete.
func completeRecording(source []byte, name string) ([]byte, error) {
	h, steps, err := recorded.Read(source)
	if err != nil {
		return nil, err
	}
	return recorded.Document(aai.CleanLabel(name, maxWorkflowName), h.App, steps)
}

// checkNew returns an error unless a workflow can be stored under the name.
func (l *Library) checkNew(name string) error {
	path := filepath.Join(l.folder, name+".json")
	var e *aai.Error
	switch _, err := os.Lstat(path); {
	case !isToolName(name):
		e = aai.Errorf(aai.InvalidParams, "save: expected letters, digits, _ and -, at most %d", maxWorkflowName)
	case err == nil:
		e = aai.Errorf(aai.InvalidParams, "save: there is a workflow %s already", name)
		e.Hint = "Give another name, or remove " + path + "."
	case !errors.Is(err, fs.ErrNotExist):
		e = aai.Errorf(aai.InvalidParams, "save: %w", err)
	default:
		return nil
	}
	e.Delivery = aai.NotDelivered
	return e
}

// save stores a workflow that has run.
func (l *Library) save(name string, d *Document, result *aai.Result) (*aai.Result, error) {
	path := filepath.Join(l.folder, name+".json")
	source, err := json.MarshalIndent(d.Source, "", "  ")
	if err == nil {
		err = atomicfile.EnsureDir(path)
	}
	if err == nil {
		err = atomicfile.Replace(path, append(source, '\n'))
	}
	if err != nil {
		result.Warning = fmt.Sprintf("it has run, but is not stored: %v", err)
		return result, nil
	}
	result.Text += fmt.Sprintf("\nStored as %s, in %s.", name, path)
	return result, nil
}
