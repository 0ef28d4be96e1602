#include "go_asm.h"
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

// A word's byte has the highest bit here, when it is an ASCII one.
DATA words<>+0x20(SB)/8, $0
DATA words<>+0x28(SB)/8, $0
DATA words<>+0x30(SB)/8, $0x8080808080808080
DATA words<>+0x38(SB)/8, $0x0000000000008080
DATA words<>+0x60(SB)/8, $0x8080808080808000
DATA words<>+0x68(SB)/8, $0x8080808080808080
DATA words<>+0x70(SB)/8, $0x8080808080808080
DATA words<>+0x78(SB)/8, $0x8000000000808080
GLOBL words<>(SB), RODATA|NOPTR, $128

// FOUND appends to the hashes at R9 those of the runs that begin at 32 bytes,
// every other one from p on. bits has one for each byte of the text; of the runs
// of four bytes R10 has the bits of those that count, of the runs of six R11.
#define FOUND(p, bits) \
	VPORQ        0+p, Z15, Z0   \
	VPORQ        2+p, Z15, Z1   \
	VPORQ        4+p, Z15, Z2   \
	PEXTQ        bits, R10, BX  \
	PEXTQ        bits, R11, R12 \
	KMOVD        BX, K1         \
	KMOVD        R12, K2        \
	POPCNTL      BX, BX         \
	POPCNTL      R12, R12       \
	VPMULLW      Z20, Z0, Z0    \
	VPMULLW      Z21, Z1, Z1    \
	VPSHUFB      Z14, Z1, Z1    \
	VPADDW       Z1, Z0, Z0     \
	VPMULLW      Z22, Z2, Z2    \
	VPSHUFB      Z14, Z0, Z3    \
	VPADDW       Z0, Z2, Z2     \
	VPADDW       Z3, Z2, Z2     \
	VPMULLW      Z23, Z0, Z0    \
	VPSRLW       $8, Z0, Z1     \
	VPXORQ       Z1, Z0, Z0     \
	VPANDQ       Z13, Z0, Z0    \
	VPMULLW      Z24, Z2, Z2    \
	VPSRLW       $8, Z2, Z3     \
	VPXORQ       Z3, Z2, Z2     \
	VPANDQ       Z13, Z2, Z2    \
	VPCOMPRESSW.Z Z0, K1, Z0    \
	VPCOMPRESSW.Z Z2, K2, Z2    \
	VMOVDQU64    Z0, (R9)       \
	LEAQ         (R9)(BX*2), R9 \
	VMOVDQU64    Z2, (R9)       \
	LEAQ         (R9)(R12*2), R9

#define MARK2(off) \
	MOVWLZX (off+0)(BX), R10 \
	MOVWLZX (off+2)(BX), R11 \
	MOVB    R8, (DI)(R10*1)  \
	MOVB    R8, (DI)(R11*1)

// func markVBMI2(seen *[1 << maxBits]byte, data *byte, n int, mask uint16, found *[foundSize]uint16) int
TEXT ·markVBMI2(SB), NOSPLIT, $0-48
	MOVQ            seen+0(FP), DI
	MOVQ            data+8(FP), SI
	MOVQ            n+16(FP), CX
	VPBROADCASTW    mask+24(FP), Z13
	MOVQ            found+32(FP), R9
	VBROADCASTI32X4 swap<>(SB), Z14
	VBROADCASTI32X4 case<>(SB), Z15
	VBROADCASTI32X4 newline<>(SB), Z16
	VMOVDQU64       words<>(SB), Z17
	VMOVDQU64       words<>+64(SB), Z18
	VBROADCASTI32X4 factor1<>(SB), Z20
	VBROADCASTI32X4 factor2<>(SB), Z21
	VBROADCASTI32X4 factor3<>(SB), Z22
	VBROADCASTI32X4 last4<>(SB), Z23
	VBROADCASTI32X4 last6<>(SB), Z24
	VPXORQ          Z25, Z25, Z25
	MOVQ            $0x0155555555555555, R13 // the runs that begin at even bytes of the first 58, and at odd ones
	MOVQ            $0x02aaaaaaaaaaaaaa, DX
	MOVL            $1, R8
	XORQ            AX, AX
	SUBQ            $70, CX
	JLT             none

step:
	// R10: which of 64 bytes end a line; R11: which are of a word
	VMOVDQU64 (SI)(AX*1), Z0
	VPCMPEQB  Z16, Z0, K1
	VPORQ     Z15, Z0, Z0
	VMOVDQA64 Z0, Z1
	VPERMI2B  Z18, Z17, Z1
	VPORQ     Z0, Z1, Z1
	VPMOVB2M  Z1, K2
	KMOVQ     K1, R10
	KMOVQ     K2, R11

	// R10: the bytes from which on there are four of one line
	MOVQ R10, BX
	SHRQ $1, BX
	ORQ  BX, R10
	MOVQ R10, BX
	SHRQ $2, BX
	ORQ  BX, R10

	// less those where one byte stands between two words: of the first and the
	// fourth byte, which are of words, one has a neighbour that is not
	MOVQ R11, BX
	SHRQ $1, BX
	MOVQ BX, R12
	SHRQ $1, R12
	XORQ R12, BX
	SHRQ $1, R12
	ANDQ R11, R12
	ANDQ R12, BX
	ORQ  BX, R10
	NOTQ R10

	// R11: those from which on there are six of a word
	MOVQ R11, BX
	SHRQ $1, BX
	ANDQ BX, R11
	MOVQ R11, BX
	SHRQ $2, BX
	ANDQ R11, BX
	SHRQ $2, R11 // of the bytes 2 and 3
	MOVQ R11, R12
	SHRQ $2, R12 // 4 and 5
	ANDQ R12, R11
	ANDQ BX, R11

	FOUND(0(SI)(AX*1), R13)
	FOUND(1(SI)(AX*1), DX)
	ADDQ $58, AX
	CMPQ AX, CX
	JGT  flush
	MOVQ found+32(FP), BX
	ADDQ $(2*const_foundFull), BX
	CMPQ R9, BX
	JLT  step

flush:
	VMOVDQU64 Z25, (R9) // the last eight may be fewer: 0 is for what doesn't count
	MOVQ      found+32(FP), BX
eight:
	MARK2(0)
	MARK2(4)
	MARK2(8)
	MARK2(12)
	ADDQ $16, BX
	CMPQ BX, R9
	JLT  eight
	MOVQ found+32(FP), R9
	CMPQ AX, CX
	JLE  step
none:
	MOVQ AX, ret+40(FP)
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
