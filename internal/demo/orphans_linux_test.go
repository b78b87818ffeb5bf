package demo

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestChildrenOf(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	assert.NilError(t, cmd.Start())
	children := childrenOf(os.Getpid())
	assert.Check(t, slices.Contains(children, cmd.Process.Pid), "the children are %v, without %d", children, cmd.Process.Pid)
	children = childrenOf(cmd.Process.Pid)
	assert.Check(t, is.Len(children, 0), "sleep has the children %v", children)
	assert.NilError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	assert.Check(t, !slices.Contains(childrenOf(os.Getpid()), cmd.Process.Pid), "%d is a child still", cmd.Process.Pid)
}
