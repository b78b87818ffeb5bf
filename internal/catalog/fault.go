package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Limits on texts of descriptors, in bytes. Longer texts are cut.
const (
	maxName = 60
	maxText = 300
)

// maxFaults limits the faults of one descriptor that are kept; the rest is counted.
const maxFaults = 20

// A Fault is an error in a descriptor or, as a warning, a doubtful part.
type Fault struct {
	// Path is the JSON path of the place, such as platforms.linux.tools[1].method, or empty for
	// the whole file.
	Path string `json:"path,omitempty"`
	// Problem describes the problem and the expected value.
	Problem string `json:"problem"`
}

// String returns the path and the problem as one line.
func (f Fault) String() string {
	if f.Path == "" {
		return f.Problem
	}
	return f.Path + ": " + f.Problem
}

// Faults holds the first maxFaults faults of one descriptor, in the order found. It is the cause of the *aai.Error
// that [Parse] returns, so errors.AsType[*Faults] finds it.
type Faults struct {
	List    []Fault
	Omitted int // number of further faults
}

// Error returns the faults, one per line.
func (f *Faults) Error() string {
	lines := make([]string, 0, len(f.List)+1)
	for _, fault := range f.List {
		lines = append(lines, fault.String())
	}
	if f.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", f.Omitted))
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(path, problem string) {
	fault := Fault{Path: path, Problem: problem}
	if slices.Contains(f.List, fault) {
		return
	}
	if len(f.List) >= maxFaults {
		f.Omitted++
		return
	}
	f.List = append(f.List, fault)
}

// err returns the faults as the error of a call, or nil if there are none.
func (f *Faults) err() *aai.Error {
	if len(f.List) == 0 {
		return nil
	}
	e := &aai.Error{
		Code:    aai.DescriptorInvalid,
		Message: f.List[0].String(),
		Hint:    "Correct the aai.json; aai-gateway --scan shows what is wrong with each file.",
		Err:     f,
	}
	if more := len(f.List) - 1 + f.Omitted; more > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", more)
	}
	return e
}
