package sanitize

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestParts(t *testing.T) {
	var set SecretSet
	set.Add("s3cr3t-Zebra!42")
	for text, want := range map[string]bool{
		"S3CR3T-ZEBRA!42": true, "s 3 c r 3 t - Z e b r a": true, "it ends with 3t-zebra!42": true, "s3cr3t": false, "zebra": false, "": false,
	} {
		assert.Check(t, is.Equal(set.HasPart(text, 6, 60), want), "%q", text)
	}
	assert.Check(t, set.HasPart("s3cr3t-", 4, 40), "a copied part is not found")
}
