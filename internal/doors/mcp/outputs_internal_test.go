package mcp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOutputsAreBounded checks the limits of stored outputs: in time, of each conversation, and of all.
func TestOutputsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newOutputs()
		mib := func(n int) string { return strings.Repeat("x", n<<20) }
		first, second, third := k.keep("a", "", mib(7)), k.keep("a", "", mib(7)), k.keep("b", "", mib(7))
		fourth := k.keep("a", "", mib(7))
		for uri, there := range map[*output]bool{first: false, second: true, third: true, fourth: true} {
			if (k.find(uri.conversation, uri.uri) != nil) != there {
				t.Errorf("an output is there: %v, want %v", !there, there)
			}
		}
		if k.find("b", second.uri) != nil || k.find("a", third.uri) != nil {
			t.Error("another conversation finds it")
		}
		if k.keep("a", "", strings.Repeat("x", maxOutput+1)) != nil {
			t.Error("one that is too long is kept")
		}
		time.Sleep(outputTTL / 2)
		for _, conversation := range strings.Split("cdefghijklmn", "") {
			k.keep(conversation, "", mib(7))
		}
		if k.bytes > maxOutputs || k.find("b", third.uri) != nil {
			t.Errorf("%d bytes are kept", k.bytes)
		}
		time.Sleep(outputTTL/2 + time.Second)
		synctest.Wait()
		if k.find("a", fourth.uri) != nil || k.bytes == 0 {
			t.Errorf("after its time it is there, or all is gone: %d", k.bytes)
		}
		time.Sleep(outputTTL / 2)
		synctest.Wait()
		if k.bytes != 0 || k.order.Len() != 0 || len(k.byURI) != 0 || len(k.of) != 0 {
			t.Errorf("in the end %d bytes are kept, %d outputs, %d conversations", k.bytes, k.order.Len(), len(k.of))
		}
	})
}
