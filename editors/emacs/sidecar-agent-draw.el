;;; sidecar-agent-draw.el --- A run as text  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a block of a conversation looks like, the foot below it and the header
;; line above it.  The text is the same as in the plug-in for Neovim.

;;; Code:

(require 'sidecar-agent-model)

(defface sidecar-agent-you '((t :inherit font-lock-function-name-face :weight bold)) "Headings of the user's messages." :group 'sidecar)
(defface sidecar-agent-question '((t :inherit warning)) "Questions." :group 'sidecar)
(defface sidecar-agent-foot '((t :inherit font-lock-keyword-face)) "The lines below a conversation." :group 'sidecar)

(defconst sidecar-agent--shown 20 "Lines of a diff or an output.")

(defvar sidecar-agent--put nil "The lines that are drawn, the last one first.")

(defun sidecar-agent--put (line &optional face)
  (push (if face (propertize line 'face face) line) sidecar-agent--put))

(defun sidecar-agent--put-all (lines before &optional face)
  (dolist (line lines) (sidecar-agent--put (concat before line) face)))

(defun sidecar-agent--guarded (line)
  "LINE, so that a model does not speak as the user, and asks nothing."
  (if (string-match-p "\\`\\(?:## You\\|\\? \\|── \\)" line) (concat "\\" line) line))

(defun sidecar-agent--put-first (lines before face)
  "Put the first of LINES, which BEFORE is put before."
  (sidecar-agent--put-all (seq-take lines sidecar-agent--shown) before face)
  (when (> (length lines) sidecar-agent--shown)
    (sidecar-agent--put (format "    … %d more lines" (- (length lines) sidecar-agent--shown)))))

(defun sidecar-agent--put-last (lines out)
  "Put the last of LINES, of which OUT were left out already."
  (let ((over (max 0 (- (length lines) sidecar-agent--shown))))
    (when (> (+ over out) 0) (sidecar-agent--put (format "    … %d lines before" (+ over out))))
    (sidecar-agent--put-all (seq-drop lines over) "    ")))

(defun sidecar-agent--changes (added removed) (format "+%d −%d" added removed))

(defun sidecar-agent--put-details (m locations diff)
  "Put where a call is and its DIFF, and return the lines added and removed."
  (let (added removed)
    (seq-doseq (place locations)
      (let ((line (or (plist-get place :line) 0)))
        (sidecar-agent--put (concat "  " (sidecar-agent--path m (or (plist-get place :path) "")) (if (> line 0) (format ":%d" line) "")) 'link)))
    (seq-doseq (file diff)
      (pcase-let ((`(,minus ,plus) (sidecar-agent--difference (plist-get file :old) (or (plist-get file :new) ""))))
        (setq added (+ (or added 0) (length plus)) removed (+ (or removed 0) (length minus)))
        (when (or (seq-empty-p locations) (> (length diff) 1))
          (sidecar-agent--put (concat "  " (sidecar-agent--path m (or (plist-get file :path) ""))) 'link))
        (sidecar-agent--put-first minus "    -" 'diff-removed)
        (sidecar-agent--put-first plus "    +" 'diff-added)))
    (and added (list added removed))))

(defun sidecar-agent--draw-call (m b)
  "Draw the call B, and say how it is folded."
  (let* ((state (sidecar-agent-b-state b)) body counts)
    (let (sidecar-agent--put)
      (setq counts (sidecar-agent--put-details m (sidecar-agent-b-locations b) (sidecar-agent-b-diff b)))
      (sidecar-agent--put-last (sidecar-agent--trimmed (sidecar-agent-b-output b)) (sidecar-agent-b-before b))
      (setq body sidecar-agent--put))
    (sidecar-agent--put
     (concat (cdr (assoc state '(("proposed" . "○") ("running" . "◐") ("completed" . "✓") ("failed" . "✗") ("denied" . "⊘"))))
             " " (if (equal (sidecar-agent-b-what b) "execute") "$ " "")
             (sidecar-agent--line (or (sidecar-agent--some (sidecar-agent-b-title b)) (sidecar-agent-b-what b)) 200)
             (if counts (concat " " (apply #'sidecar-agent--changes counts)) "")
             (pcase state ("denied" " · denied") ("failed" " · failed") (_ "")))
     (if (equal state "failed") 'error 'font-lock-type-face))
    (setq sidecar-agent--put (append body sidecar-agent--put))
    (and body (if (equal state "completed") 'closed 'open))))

(defun sidecar-agent--keys (b)
  "The keys of the options of B: a, s, d for what their kinds say, else numbers."
  (let ((by (list (cons "allow_once" "a") (cons "allow_always" "s") (cons "reject_once" "d"))) (n 0))
    (mapcar (lambda (option)
              (cl-incf n)
              (let ((key (assoc (plist-get option :kind) by)))
                (setq by (delq key by))
                (if key (cdr key) (number-to-string n))))
            (sidecar-agent-b-options b))))

(defun sidecar-agent--denial (b)
  "The option of B that says no, if there is one."
  (seq-find (lambda (option) (equal (plist-get option :kind) "reject_once")) (sidecar-agent-b-options b)))

(defun sidecar-agent--draw-question (m b)
  (let* ((text (sidecar-agent-b-text b)) (lines (sidecar-agent--trimmed (sidecar-agent--lines text))) (answer (sidecar-agent-b-answer b)))
    (if (sidecar-agent-b-closed b)
        (sidecar-agent--put
         (concat (if answer "✓ " "○ ") (sidecar-agent--line (or (car lines) "") 200) " · "
                 (if (not answer) (concat "not answered: " (sidecar-agent--line (sidecar-agent-b-reason b) 100))
                   (concat (sidecar-agent--line answer 100)
                           (if (sidecar-agent-b-by b) (format " (%s)" (sidecar-agent--line (sidecar-agent-b-by b) 40)) ""))))
         'shadow)
      (sidecar-agent--put (concat "? " (or (car lines) "")) 'sidecar-agent-question)
      (sidecar-agent--put
       (concat "  " (string-join
                     (append (cl-mapcar (lambda (key option) (format "[%s] %s" key (sidecar-agent--line (plist-get option :label) 80)))
                                        (sidecar-agent--keys b) (sidecar-agent-b-options b))
                             (and (sidecar-agent--denial b) '("[r] Deny with Reason"))
                             (and (null (sidecar-agent-b-options b)) '("[a] Answer")))
                     "  "))
       'sidecar-agent-question)
      (when (sidecar-agent--hides text) (sidecar-agent--put "  ⚠ It has characters that can't be seen, written as ‹U+…›" 'error))
      (sidecar-agent--put-all (cdr lines) "  ")
      (when-let ((call (sidecar-agent-b-call b)))
        (sidecar-agent--put-details m (plist-get call :locations) (plist-get call :diff))))
    nil))

(defconst sidecar-agent--ends
  '(("interrupted" . "■ Interrupted") ("failed" . "✗ Failed") ("budget" . "■ Its budget is used up") ("loop" . "■ Stopped: it repeated itself")
    ("refused" . "■ It refused") ("done" . "✓ Done")))

(defun sidecar-agent--draw-kind (m b)
  "Draw B of M, and say how it is folded."
  (let ((lines (sidecar-agent--trimmed (sidecar-agent-b-lines b))))
    (pcase (sidecar-agent-b-kind b)
      ('you
       (let ((time (or (sidecar-agent-b-time b) "")))
         (sidecar-agent--put (concat "## You · " (if (>= (length time) 16) (substring time 11 16) "") (if (sidecar-agent-b-steered b) " · while it worked" ""))
                             'sidecar-agent-you))
       (sidecar-agent--put-all (mapcar #'sidecar-agent--guarded lines) "")
       nil)
      ('text (sidecar-agent--put-all (mapcar #'sidecar-agent--guarded lines) "") nil)
      ('thought (sidecar-agent--put "∴ Thought" 'shadow) (sidecar-agent--put-all lines "> " 'shadow) 'closed)
      ('call (sidecar-agent--draw-call m b))
      ('question (sidecar-agent--draw-question m b))
      ('note (sidecar-agent--put (concat "· " (car lines)) 'shadow) (sidecar-agent--put-all (cdr lines) "  " 'shadow) nil)
      ('end
       (let ((reason (sidecar-agent-b-reason b)))
         (sidecar-agent--put (or (cdr (assoc reason sidecar-agent--ends)) (concat "■ " (sidecar-agent--line reason 40))) (if (equal reason "failed") 'error 'shadow)))
       (sidecar-agent--put-all lines "  ")
       nil))))

(defun sidecar-agent--text-of (lines)
  "LINES, the last one first, as text."
  (mapconcat (lambda (line) (concat line "\n")) (reverse lines) ""))

(defun sidecar-agent--draw-block (m b)
  "The text of B of M and how it is folded."
  (let* (sidecar-agent--put (before (sidecar-agent-b-before-it b)) (compact '(thought call note))
         (fold (progn
                 (when (and before (not (and (memq (sidecar-agent-b-kind b) compact) (memq (sidecar-agent-b-kind before) compact)))) (sidecar-agent--put ""))
                 (sidecar-agent--draw-kind m b))))
    (list (sidecar-agent--text-of sidecar-agent--put) fold)))

(defun sidecar-agent--state (m down)
  "The state of M in words.  DOWN: the server is not there."
  (let ((state (sidecar-agent-m-state m)))
    (cond (down "⊘ The server has ended")
          ((and (sidecar-agent-m-starting m) (not (equal state "waiting"))) "◌ Starting…")
          ((sidecar-agent-m-retry m) "◷ Waiting for model")
          ((cdr (assoc state '(("idle" . "● Ready") ("running" . "◐ Working") ("waiting" . "? Needs you") ("paused" . "‖ Paused") ("ended" . "✓ Ended")))))
          (t (sidecar-agent--line state 40)))))

(defun sidecar-agent--draw-foot (m files down)
  "The foot of M: plan, FILES that wait for review, prompts that wait, and the state.
DOWN: the server is not there.  The state is always the last line."
  (let ((sidecar-agent--put (list "")) (plan (sidecar-agent-m-plan m)) (queue (sidecar-agent-m-queue m)) (n 0))
    (when plan
      (let ((now (seq-find (lambda (step) (equal (plist-get step :status) "in_progress")) plan)))
        (sidecar-agent--put (concat (format "── Plan %d/%d" (seq-count (lambda (step) (equal (plist-get step :status) "completed")) plan) (length plan))
                                    (if now (concat " · " (sidecar-agent--line (plist-get now :text) 80)) ""))
                            'sidecar-agent-foot))
      (dolist (step plan)
        (sidecar-agent--put (concat "   " (or (cdr (assoc (plist-get step :status) '(("completed" . "✓") ("in_progress" . "◐") ("failed" . "✗")))) "○")
                                    " " (sidecar-agent--line (plist-get step :text) 200)))))
    (when files
      (let ((sum (lambda (key) (apply #'+ (mapcar (lambda (file) (plist-get file key)) files)))))
        (sidecar-agent--put (format "── %d %s %s to review" (length files) (if (cdr files) "files" "file")
                                    (sidecar-agent--changes (funcall sum :added) (funcall sum :removed)))
                            'sidecar-agent-foot))
      (dolist (file files)
        (sidecar-agent--put
         (propertize (concat "   " (or (cdr (assoc (plist-get file :kind) '(("create" . "A") ("modify" . "M") ("delete" . "D") ("rename" . "R")))) "?")
                             " " (sidecar-agent--line (plist-get file :path) 200)
                             " " (sidecar-agent--changes (plist-get file :added) (plist-get file :removed))
                             (if (equal (plist-get file :state) "conflict") " · conflict" ""))
                     'sidecar-agent-file file))))
    (when queue
      (sidecar-agent--put (concat (format "── %d queued" (length queue)) (if (sidecar-agent-m-paused m) " · paused" "")) 'sidecar-agent-foot)
      (dolist (item queue)
        (sidecar-agent--put (propertize (format "   %d. %s" (cl-incf n) (sidecar-agent--line (plist-get item :text) 200)) 'sidecar-agent-item item))))
    (sidecar-agent--put (concat "── " (sidecar-agent--state m down)) 'sidecar-agent-foot)
    (sidecar-agent--text-of sidecar-agent--put)))

(defun sidecar-agent--head (m mode down)
  "The line above M: agent, MODE, state and usage, as they were told."
  (let* ((agent (sidecar-agent--line (sidecar-agent-m-agent m) 40)) (title (sidecar-agent--line (sidecar-agent-m-title m) 60))
         (usage (sidecar-agent-m-usage m)) (size (or (plist-get usage :size) 0)) (cost (or (plist-get usage :cost) 0)))
    (concat (if (equal title agent) "" (concat title "  "))
            (string-join (delq nil (list agent (sidecar-agent--some mode) (sidecar-agent--state m down)
                                         (and (> size 0) (format "%d %%" (/ (* 100 (or (plist-get usage :used) 0)) size)))
                                         (and (> cost 0) (format "%.2f %s" cost (sidecar-agent--line (plist-get usage :currency) 8)))))
                         " · "))))

(provide 'sidecar-agent-draw)
;;; sidecar-agent-draw.el ends here
