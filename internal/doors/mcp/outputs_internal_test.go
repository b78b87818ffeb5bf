package mcp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestOutputsAreBounded checks the limits of stored outputs: in time, of each conversation, and of all.
func TestOutputsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newOutputs()
		mib := func(n int) string { return strings.Repeat("x", n<<20) }
		first, second, third := k.keep("a", "", mib(7)), k.keep("a", "", mib(7)), k.keep("b", "", mib(7))
		fourth := k.keep("a", "", mib(7))
		for uri, there := range map[*output]bool{first: false, second: true, third: true, fourth: true} {
			assert.Check(t, is.Equal((k.find(uri.conversation, uri.uri) != nil), there), "an output is there: %v, want %v", !there, there)
		}
		assert.Assert(t, k.find("b", second.uri) == nil, "another conversation finds it")
		assert.Assert(t, k.find("a", third.uri) == nil, "another conversation finds it")
		assert.Check(t, k.keep("a", "", strings.Repeat("x", maxOutput+1)) == nil, "one that is too long is kept")
		time.Sleep(outputTTL / 2)
		for _, conversation := range strings.Split("cdefghijklmn", "") {
			k.keep(conversation, "", mib(7))
		}
		assert.Check(t, k.bytes <= maxOutputs, "%d bytes are kept", k.bytes)
		assert.Check(t, k.find("b", third.uri) == nil, "%d bytes are kept", k.bytes)
		time.Sleep(outputTTL/2 + time.Second)
		synctest.Wait()
		assert.Assert(t, k.find("a", fourth.uri) == nil, "after its time it is there, or all is gone: %d", k.bytes)
		assert.Assert(t, k.bytes != 0, "after its time it is there, or all is gone: %d", k.bytes)
		time.Sleep(outputTTL / 2)
		synctest.Wait()
		assert.Equal(t, k.bytes, 0)
		assert.Equal(t, k.order.Len(), 0)
		assert.Assert(t, is.Len(k.byURI, 0))
		assert.Assert(t, is.Len(k.of, 0))
	})
}
