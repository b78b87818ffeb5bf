// Package vision reads words in pictures, compares pictures, and draws on them. It knows nothing of windows: a picture
// is an image, and every place is in its pixels.
//
// [Reader] runs Tesseract (https://github.com/tesseract-ocr/tesseract) as a process, which must be installed.
package vision
