package tools

import (
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/text/picture"
)

// Image is a picture in a result.
type Image struct {
	MIME   string `json:"mime"` // by its first bytes
	Data   []byte `json:"data"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// Bounds of the pictures of a result.
const (
	MaxImages        = 4
	MaxImageBytes    = 4 << 20
	maxImageBytesAll = 8 << 20
)

// NewImage is a picture of which the head can be read.
func NewImage(data []byte) (Image, error) {
	if len(data) > MaxImageBytes {
		return Image{}, fmt.Errorf("it has %d bytes, and at most %d are shown", len(data), MaxImageBytes)
	}
	mime, width, height, err := picture.Measure(data)
	if err != nil {
		return Image{}, err
	}
	return Image{mime, data, width, height}, nil
}

// Words name the picture in a text.
func (i Image) Words() string { return fmt.Sprintf("an image, %d×%d", i.Width, i.Height) }

// BoundImages are those of list that a result may have, and how many are too many.
// What is not as it says is left out.
func BoundImages(list []Image) (kept []Image, left int) {
	all := 0
	for _, i := range list {
		checked, err := NewImage(i.Data)
		if err != nil || len(kept) == MaxImages || all+len(i.Data) > maxImageBytesAll {
			left++
			continue
		}
		all += len(i.Data)
		kept = append(kept, checked)
	}
	return kept, left
}
