import { useState } from 'react'

export interface ConfirmedButtonProps {
  readonly text: string
  /** What it is done to; together with the text it names the button. */
  readonly target: string
  readonly act: () => Promise<void>
}

/** A button for what cannot be taken back: it asks once more. */
export function ConfirmedButton({ text, target, act }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false)
  if (!isAsking) {
    return (
      <button type="button" aria-label={`${text} ${target}`} onClick={() => setAsking(true)}>
        {text}
      </button>
    )
  }
  const actOnce = (): void => {
    setAsking(false)
    void act()
  }
  return (
    <>
      <button type="button" aria-label={`${text} ${target} for good`} onClick={actOnce}>
        {text} for good
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep
      </button>
    </>
  )
}
