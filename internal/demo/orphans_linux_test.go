package demo

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestChildrenOf(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if children := childrenOf(os.Getpid()); !slices.Contains(children, cmd.Process.Pid) {
		t.Errorf("the children are %v, without %d", children, cmd.Process.Pid)
	}
	if children := childrenOf(cmd.Process.Pid); len(children) > 0 {
		t.Errorf("sleep has the children %v", children)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if children := childrenOf(os.Getpid()); slices.Contains(children, cmd.Process.Pid) {
		t.Errorf("%d is a child still", cmd.Process.Pid)
	}
}
