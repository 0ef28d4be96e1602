#include "textflag.h"

// The factors of the hashes, for 16 of them.
DATA factor1<>+0(SB)/8, $0x9e359e359e359e35
DATA factor1<>+8(SB)/8, $0x9e359e359e359e35
DATA factor1<>+16(SB)/8, $0x9e359e359e359e35
DATA factor1<>+24(SB)/8, $0x9e359e359e359e35
GLOBL factor1<>(SB), RODATA|NOPTR, $32

DATA factor2<>+0(SB)/8, $0x85eb85eb85eb85eb
DATA factor2<>+8(SB)/8, $0x85eb85eb85eb85eb
DATA factor2<>+16(SB)/8, $0x85eb85eb85eb85eb
DATA factor2<>+24(SB)/8, $0x85eb85eb85eb85eb
GLOBL factor2<>(SB), RODATA|NOPTR, $32

DATA factor3<>+0(SB)/8, $0xc2b3c2b3c2b3c2b3
DATA factor3<>+8(SB)/8, $0xc2b3c2b3c2b3c2b3
DATA factor3<>+16(SB)/8, $0xc2b3c2b3c2b3c2b3
DATA factor3<>+24(SB)/8, $0xc2b3c2b3c2b3c2b3
GLOBL factor3<>(SB), RODATA|NOPTR, $32

DATA last4<>+0(SB)/8, $0xca6bca6bca6bca6b
DATA last4<>+8(SB)/8, $0xca6bca6bca6bca6b
DATA last4<>+16(SB)/8, $0xca6bca6bca6bca6b
DATA last4<>+24(SB)/8, $0xca6bca6bca6bca6b
GLOBL last4<>(SB), RODATA|NOPTR, $32

DATA last6<>+0(SB)/8, $0x27d527d527d527d5
DATA last6<>+8(SB)/8, $0x27d527d527d527d5
DATA last6<>+16(SB)/8, $0x27d527d527d527d5
DATA last6<>+24(SB)/8, $0x27d527d527d527d5
GLOBL last6<>(SB), RODATA|NOPTR, $32

// Swaps the bytes of 16 words.
DATA swap<>+0(SB)/8, $0x0607040502030001
DATA swap<>+8(SB)/8, $0x0e0f0c0d0a0b0809
DATA swap<>+16(SB)/8, $0x0607040502030001
DATA swap<>+24(SB)/8, $0x0e0f0c0d0a0b0809
GLOBL swap<>(SB), RODATA|NOPTR, $32

// Spreads 32 bits over 16 words: each has the 16 bits that its own is in.
DATA spread<>+0(SB)/8, $0x0100010001000100
DATA spread<>+8(SB)/8, $0x0100010001000100
DATA spread<>+16(SB)/8, $0x0302030203020302
DATA spread<>+24(SB)/8, $0x0302030203020302
GLOBL spread<>(SB), RODATA|NOPTR, $32

// The bits of words that begin at even bytes, and at odd ones.
DATA even<>+0(SB)/8, $0x0040001000040001
DATA even<>+8(SB)/8, $0x4000100004000100
DATA even<>+16(SB)/8, $0x0040001000040001
DATA even<>+24(SB)/8, $0x4000100004000100
GLOBL even<>(SB), RODATA|NOPTR, $32

DATA odd<>+0(SB)/8, $0x0080002000080002
DATA odd<>+8(SB)/8, $0x8000200008000200
DATA odd<>+16(SB)/8, $0x0080002000080002
DATA odd<>+24(SB)/8, $0x8000200008000200
GLOBL odd<>(SB), RODATA|NOPTR, $32

// Which bytes are of words: a byte is one when what its halves have here has a
// bit in common.
DATA low<>+0(SB)/8, $0x0f0f0f0f0f0f0f0d
DATA low<>+8(SB)/8, $0x0e0a0a0a0a0e0f0f
DATA low<>+16(SB)/8, $0x0f0f0f0f0f0f0f0d
DATA low<>+24(SB)/8, $0x0e0a0a0a0a0e0f0f
GLOBL low<>(SB), RODATA|NOPTR, $32

DATA high<>+0(SB)/8, $0x0402000001000000
DATA high<>+8(SB)/8, $0x0808080808080808
DATA high<>+16(SB)/8, $0x0402000001000000
DATA high<>+24(SB)/8, $0x0808080808080808
GLOBL high<>(SB), RODATA|NOPTR, $32

// The lower half of a byte.
DATA half<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA half<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA half<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA half<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL half<>(SB), RODATA|NOPTR, $32

// caseBit, for 32 bytes.
DATA case<>+0(SB)/8, $0x2020202020202020
DATA case<>+8(SB)/8, $0x2020202020202020
DATA case<>+16(SB)/8, $0x2020202020202020
DATA case<>+24(SB)/8, $0x2020202020202020
GLOBL case<>(SB), RODATA|NOPTR, $32

// 32 ends of lines.
DATA newline<>+0(SB)/8, $0x0a0a0a0a0a0a0a0a
DATA newline<>+8(SB)/8, $0x0a0a0a0a0a0a0a0a
DATA newline<>+16(SB)/8, $0x0a0a0a0a0a0a0a0a
DATA newline<>+24(SB)/8, $0x0a0a0a0a0a0a0a0a
GLOBL newline<>(SB), RODATA|NOPTR, $32

// WORDS makes a bit of each of the 32 bytes at p: whether it is one of a word,
// and whether it ends a line.
#define WORDS(p, to, ends) \
	VMOVDQU   newline<>(SB), Y0   \
	VPCMPEQB  p, Y0, Y0           \
	VPMOVMSKB Y0, ends            \
	VPOR      p, Y15, Y0          \
	VPSRLW    $4, Y0, Y1          \
	VPAND     half<>(SB), Y1, Y1  \
	VPAND     half<>(SB), Y0, Y0  \
	VMOVDQU   low<>(SB), Y2       \
	VMOVDQU   high<>(SB), Y3      \
	VPSHUFB   Y0, Y2, Y2          \
	VPSHUFB   Y1, Y3, Y3          \
	VPAND     Y2, Y3, Y2          \
	VPCMPEQB  Y12, Y2, Y2         \
	VPMOVMSKB Y2, to              \
	NOTL      to

// HASHES writes the hashes of the runs that begin at 16 bytes, every other one
// from p on. Of those of four bytes count the ones for which Y4 has bits, of those
// of six the ones for which Y5 has.
#define HASHES(p, bits, off) \
	VPOR     0+p, Y15, Y0         \
	VPOR     2+p, Y15, Y1         \
	VPOR     4+p, Y15, Y2         \
	VPMULLW  factor1<>(SB), Y0, Y0 \
	VPMULLW  factor2<>(SB), Y1, Y1 \
	VPSHUFB  Y14, Y1, Y1          \
	VPADDW   Y1, Y0, Y0           \
	VPMULLW  factor3<>(SB), Y2, Y2 \
	VPSHUFB  Y14, Y0, Y3          \
	VPADDW   Y0, Y2, Y2           \
	VPADDW   Y3, Y2, Y2           \
	VPAND    bits, Y4, Y6         \
	VPCMPEQW bits, Y6, Y6         \
	VPMULLW  last4<>(SB), Y0, Y0  \
	VPSRLW   $8, Y0, Y1           \
	VPXOR    Y1, Y0, Y0           \
	VPAND    Y6, Y0, Y0           \
	VPAND    Y13, Y0, Y0          \
	VMOVDQU  Y0, off(SP)          \
	VPAND    bits, Y5, Y6         \
	VPCMPEQW bits, Y6, Y6         \
	VPMULLW  last6<>(SB), Y2, Y2  \
	VPSRLW   $8, Y2, Y1           \
	VPXOR    Y1, Y2, Y2           \
	VPAND    Y6, Y2, Y2           \
	VPAND    Y13, Y2, Y2          \
	VMOVDQU  Y2, (off+32)(SP)

#define MARK4(off) \
	MOVWLZX (off+0)(SP), BX \
	MOVWLZX (off+2)(SP), R12 \
	MOVB    R8, (DI)(BX*1)   \
	MOVB    R8, (DI)(R12*1)  \
	MOVWLZX (off+4)(SP), BX \
	MOVWLZX (off+6)(SP), R12 \
	MOVB    R8, (DI)(BX*1)   \
	MOVB    R8, (DI)(R12*1)

#define MARK16(off) \
	MARK4(off)    \
	MARK4(off+8)  \
	MARK4(off+16) \
	MARK4(off+24)

// func markAVX2(seen *[1 << maxBits]byte, data *byte, n int, mask uint16) int
TEXT ·markAVX2(SB), NOSPLIT, $128-40
	MOVQ         seen+0(FP), DI
	MOVQ         data+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTW mask+24(FP), Y13
	VMOVDQU      swap<>(SB), Y14
	VMOVDQU      case<>(SB), Y15
	VPXOR        Y12, Y12, Y12
	VMOVDQU      even<>(SB), Y10
	VMOVDQU      odd<>(SB), Y11
	VMOVDQU      spread<>(SB), Y9
	MOVL         $1, R8
	XORQ         AX, AX
	SUBQ         $64, CX
	JLT          done
	WORDS(0(SI), R9, R13)

loop:
	// R9 and R13: the bits of these 32 bytes; R10 and R12: those and the next ones
	WORDS(32(SI)(AX*1), DX, BX)
	MOVQ DX, R10
	SHLQ $32, R10
	ORQ  R9, R10
	MOVL DX, R9
	MOVQ BX, R12
	SHLQ $32, R12
	ORQ  R13, R12
	MOVL BX, R13

	// R12: the bytes from which on there are four of one line
	MOVQ R12, BX
	SHRQ $1, BX
	ORQ  BX, R12
	MOVQ R12, BX
	SHRQ $2, BX
	ORQ  BX, R12
	NOTQ R12

	// less those where one byte stands between two words: of the first and the
	// fourth byte, which are of words, one has a neighbour that is not
	MOVQ R10, R11
	SHRQ $1, R11
	MOVQ R11, BX
	SHRQ $1, BX
	XORQ BX, R11
	SHRQ $1, BX
	ANDQ R10, BX
	ANDQ BX, R11
	NOTQ R11
	ANDQ R11, R12

	// R10: those from which on there are six of a word
	MOVQ R10, R11
	SHRQ $1, R11
	ANDQ R11, R10
	MOVQ R10, R11
	SHRQ $2, R11
	ANDQ R11, R10
	MOVQ R10, R11
	SHRQ $2, R11
	ANDQ R11, R10

	VMOVD        R12, X4
	VMOVD        R10, X5
	VPBROADCASTD X4, Y4
	VPBROADCASTD X5, Y5
	VPSHUFB      Y9, Y4, Y4
	VPSHUFB      Y9, Y5, Y5
	HASHES(0(SI)(AX*1), Y10, 0)
	HASHES(1(SI)(AX*1), Y11, 64)
	MARK16(0)
	MARK16(32)
	MARK16(64)
	MARK16(96)
	ADDQ $32, AX
	CMPQ AX, CX
	JLE  loop

done:
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET

// func packAVX2(to *uint64, seen *byte, n int)
TEXT ·packAVX2(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ seen+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

more:
	VMOVDQU   (SI)(AX*1), Y0
	VMOVDQU   32(SI)(AX*1), Y1
	VMOVDQU   64(SI)(AX*1), Y2
	VMOVDQU   96(SI)(AX*1), Y3
	VPSLLW    $7, Y0, Y0
	VPSLLW    $7, Y1, Y1
	VPSLLW    $7, Y2, Y2
	VPSLLW    $7, Y3, Y3
	VPMOVMSKB Y0, R8
	VPMOVMSKB Y1, R9
	VPMOVMSKB Y2, R10
	VPMOVMSKB Y3, R11
	MOVL      R8, 0(DI)
	MOVL      R9, 4(DI)
	MOVL      R10, 8(DI)
	MOVL      R11, 12(DI)
	ADDQ      $16, DI
	SUBQ      $-128, AX
	CMPQ      AX, CX
	JLT       more
	VZEROUPPER
	RET
