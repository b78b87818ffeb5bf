package main

import (
	"log/slog"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
)

// TestGuideOfTheDesktop limits the tokens of the default profile's guide to windows: a line for
// each tool, and each in full on request. A token is four characters.
func TestGuideOfTheDesktop(t *testing.T) {
	const most, mostOfOne = 1200, 450
	none := func() *gateway.Gateway { return nil }
	desk := gui.New(gui.Config{ExtraTools: newCallTools(none, nil, dataFolders{}, slog.New(slog.DiscardHandler)).desktop})
	guide := catalog.Guide(desk)
	t.Logf("the guide is about %d tokens", len(guide)/4)
	assert.Check(t, len(guide)/4 <= most, "the guide is about %d tokens, expected at most %d:\n%s", len(guide)/4, most, guide)
	for _, tool := range desk.Tools {
		if tool.Limits.Unlisted {
			continue
		}
		assert.Check(t, is.Contains(guide, "\n- "+tool.Name+"("), "the guide has no line for %s", tool.Name)
		full, _ := catalog.GuideForTool(desk, tool.Name)
		assert.Check(t, len(full)/4 <= mostOfOne, "the guide to %s is about %d tokens:\n%s", tool.Name, len(full)/4, full)
		for _, name := range tool.Params.Order {
			assert.Assert(t, is.Contains(full, "\n- "+name+" ("), tool.Name)
			assert.Assert(t, is.Contains(guide, name), tool.Name)
		}
	}
}
