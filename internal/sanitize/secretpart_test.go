package sanitize

import "testing"

func TestParts(t *testing.T) {
	var set SecretSet
	set.Add("s3cr3t-Zebra!42")
	for text, want := range map[string]bool{
		"S3CR3T-ZEBRA!42": true, "s 3 c r 3 t - Z e b r a": true, "it ends with 3t-zebra!42": true, "s3cr3t": false, "zebra": false, "": false,
	} {
		if got := set.HasPart(text, 6, 60); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !set.HasPart("s3cr3t-", 4, 40) {
		t.Error("a copied part is not found")
	}
}
